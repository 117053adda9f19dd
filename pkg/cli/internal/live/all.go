// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package live reads what there is in a cluster.
package live

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/pager"

	"berth.dev/berth/pkg/cli/internal/client"
)

// ReadAll lists everything that says where pods run: what ReadFit lists, the controllers of pods,
// what admission reads, and Berth's own objects, of which there are none where Berth is not
// installed.
func ReadAll(ctx context.Context, clients client.Clients) ([]runtime.Object, error) {
	const all = metav1.NamespaceAll
	core, kube, berth := clients.Kubernetes.CoreV1(), clients.Kubernetes, clients.Berth.BerthV1alpha1()
	kinds := []listed{
		{"limitranges", pageOf(core.LimitRanges(all).List), false},
		{"resourcequotas", pageOf(core.ResourceQuotas(all).List), false},
		{"poddisruptionbudgets", pageOf(kube.PolicyV1().PodDisruptionBudgets(all).List), false},
		{"horizontalpodautoscalers", pageOf(kube.AutoscalingV2().HorizontalPodAutoscalers(all).List), false},
		{"daemonsets", pageOf(kube.AppsV1().DaemonSets(all).List), false},
		{"runtimeclasses", pageOf(kube.NodeV1().RuntimeClasses().List), false},
		{"priorityclasses", pageOf(kube.SchedulingV1().PriorityClasses().List), false},
		{"clusters", pageOf(berth.Clusters().List), true},
		{"clusterresources", pageOf(berth.ClusterResources().List), true},
		{"propagationpolicies", pageOf(berth.PropagationPolicies(all).List), true},
		{"clusterpropagationpolicies", pageOf(berth.ClusterPropagationPolicies().List), true},
		{"subscriptions", pageOf(berth.Subscriptions(all).List), true},
		{"applications", pageOf(berth.Applications(all).List), true},
	}
	group, ctx := errgroup.WithContext(ctx)
	found := make([][]runtime.Object, len(kinds)+2)
	for i, kind := range kinds {
		group.Go(func() (err error) {
			found[i], err = kind.read(ctx)
			return err
		})
	}
	group.Go(func() (err error) {
		found[len(kinds)], err = readKubernetes(ctx, clients)
		return err
	})
	group.Go(func() error {
		owners, err := readOwners(ctx, clients, all)
		for _, owner := range owners {
			found[len(kinds)+1] = append(found[len(kinds)+1], owner)
		}
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return slices.Concat(found...), nil
}

// listed is a kind to list; an optional one may be missing.
type listed struct {
	name     string
	page     pager.ListPageFunc
	optional bool
}

func (l *listed) read(ctx context.Context) ([]runtime.Object, error) {
	var found []runtime.Object
	err := eachItem(ctx, l.page, func(o runtime.Object) { found = append(found, o) })
	if l.optional && apierrors.IsNotFound(err) {
		return nil, nil
	}
	return found, client.DescribeError("listing "+l.name, err)
}

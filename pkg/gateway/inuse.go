// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/stamp"
)

// parallelNodes bounds how many nodes are looked at together.
const parallelNodes = 8

// checkUnused returns a problem if a pod that Berth placed in the cluster still runs there. Other pods do not need the
// Cluster: unregistering it takes nothing away from them.
func (g *Gateway) checkUnused(ctx context.Context, cluster *berthv1alpha1.Cluster) error {
	nodes := slices.Concat(cluster.Status.ContainedNodes, cluster.Spec.Nodes)
	slices.Sort(nodes)
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(parallelNodes)
	for _, node := range slices.Compact(nodes) {
		if groupCtx.Err() != nil {
			break
		}
		group.Go(func() error { return g.checkNodeUnused(groupCtx, cluster.Name, node) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	// Without an error all nodes have been looked at, unless time ran out before.
	if err := ctx.Err(); err != nil {
		return unavailable(err)
	}
	return nil
}

func (g *Gateway) checkNodeUnused(ctx context.Context, cluster, node string) error {
	pods, err := g.config.Pods.Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{
		FieldSelector: fields.AndSelectors(
			fields.OneTermEqualSelector("spec.nodeName", node),
			fields.OneTermNotEqualSelector("status.phase", string(corev1.PodSucceeded)),
			fields.OneTermNotEqualSelector("status.phase", string(corev1.PodFailed)),
		).String(),
	})
	if err != nil {
		return podError(node, err)
	}
	for i := range pods.Items {
		if placed, ok := stamp.Of(&pods.Items[i]); ok && placed.Cluster == cluster {
			return problem(http.StatusConflict, CodeInUse,
				"replicas that Berth placed still run in cluster %q; move them away first, or unregister it with force=true", cluster)
		}
	}
	return nil
}

// podError keeps an answer about pods from being taken for one about the cluster.
func podError(node string, err error) error {
	err = fmt.Errorf("listing the pods of node %q: %w", node, err)
	if isUnreachable(err) {
		return unavailable(err)
	}
	return internal(err)
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/pager"

	"berth.dev/berth/pkg/cli/internal/client"
)

// Read lists all objects of a namespace, or of all namespaces if it is empty. The error says in one line what keeps it
// from reading.
func Read(ctx context.Context, clients client.Clients, namespace string) (*Objects, error) {
	o := &Objects{}
	berth := clients.Berth.BerthV1alpha1()
	// Berth's own kinds come first: if they are not installed, nothing else matters.
	if err := list(ctx, berth.PropagationPolicies(namespace).List, &o.Policies); err != nil {
		return nil, client.DescribeBerthError("listing propagationpolicies"+in(namespace), err)
	}
	if err := list(ctx, berth.Clusters().List, &o.Clusters); err != nil {
		return nil, client.DescribeBerthError("listing clusters", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	core, apps, batch := clients.Kubernetes.CoreV1(), clients.Kubernetes.AppsV1(), clients.Kubernetes.BatchV1()
	for kind, read := range map[string]func() error{
		"nodes":                        func() error { return list(ctx, core.Nodes().List, &o.Nodes) },
		"pods" + in(namespace):         func() error { return list(ctx, core.Pods(namespace).List, &o.Pods) },
		"deployments" + in(namespace):  func() error { return list(ctx, apps.Deployments(namespace).List, &o.Deployments) },
		"replicasets" + in(namespace):  func() error { return list(ctx, apps.ReplicaSets(namespace).List, &o.ReplicaSets) },
		"statefulsets" + in(namespace): func() error { return list(ctx, apps.StatefulSets(namespace).List, &o.StatefulSets) },
		"jobs" + in(namespace):         func() error { return list(ctx, batch.Jobs(namespace).List, &o.Jobs) },
		"replicationcontrollers" + in(namespace): func() error {
			return list(ctx, core.ReplicationControllers(namespace).List, &o.ReplicationControllers)
		},
	} {
		group.Go(func() error { return client.DescribeError("listing "+kind, read()) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return o, nil
}

// list appends all objects of a kind, which it asks for page by page.
func list[L runtime.Object, T any](
	ctx context.Context, page func(context.Context, metav1.ListOptions) (L, error), into *[]T,
) error {
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return page(ctx, options)
	})
	return pages.EachListItemWithAlloc(ctx, metav1.ListOptions{}, func(object runtime.Object) error {
		item, ok := object.(any).(*T)
		if !ok {
			return fmt.Errorf("the list holds a %T", object)
		}
		*into = append(*into, *item)
		return nil
	})
}

// in names the namespace in a description, unless it stands for all.
func in(namespace string) string {
	if namespace == metav1.NamespaceAll {
		return ""
	}
	return fmt.Sprintf(" of namespace %q", namespace)
}

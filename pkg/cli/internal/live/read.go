// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/pager"

	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/explain/placement"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/ownership"
)

// Read lists all objects of a namespace, or of all namespaces if it is empty. The error says in one
// line what keeps it from reading.
func Read(ctx context.Context, clients client.Clients, namespace string) (*placement.Objects, error) {
	o := &placement.Objects{}
	var err error
	if o.Further, err = further(ctx, clients, namespace); err != nil {
		return nil, err
	}
	berth := clients.Berth.BerthV1alpha1()
	// Berth's own kinds come first: if they are not installed, nothing else matters.
	if err := list(ctx, berth.PropagationPolicies(namespace).List, &o.Policies); err != nil {
		return nil, client.DescribeBerthError("listing propagationpolicies"+in(namespace), err)
	}
	if err := list(ctx, berth.Clusters().List, &o.Clusters); err != nil {
		return nil, client.DescribeBerthError("listing clusters", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	read := func(kind string, read func() error) {
		group.Go(func() error { return client.DescribeError("listing "+kind, read()) })
	}
	core := clients.Kubernetes.CoreV1()
	read("nodes", func() error { return list(ctx, core.Nodes().List, &o.Nodes) })
	read("pods"+in(namespace), func() error { return list(ctx, core.Pods(namespace).List, &o.Pods) })
	group.Go(func() (err error) {
		o.Owners, err = readOwners(ctx, clients, namespace)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return o, nil
}

// Owners returns what looks up owners of operators' kinds in all namespaces, nil with clients that
// a test has made.
func Owners(ctx context.Context, clients client.Clients) (workload.FurtherSource, error) {
	return further(ctx, clients, metav1.NamespaceAll)
}

// further is Owners for a namespace, or for all if it is empty.
func further(ctx context.Context, clients client.Clients, namespace string) (workload.FurtherSource, error) {
	if clients.Config == nil {
		return nil, nil //nolint:nilnil // no source takes references at their word
	}
	return ownership.NewReader(ctx, clients.Config, namespace, ownership.RulesOf(clients.Berth))
}

// readOwners lists the objects of a namespace, or of all, that control pods.
func readOwners(ctx context.Context, clients client.Clients, namespace string) ([]workload.Object, error) {
	group, ctx := errgroup.WithContext(ctx)
	kinds := workload.Kinds()
	owners := make([][]workload.Object, len(kinds))
	for i, kind := range kinds {
		group.Go(func() error {
			return client.DescribeError("listing "+kind.Resource+in(namespace), listOwners(ctx, clients, kind, namespace, &owners[i]))
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return slices.Concat(owners...), nil
}

// listOwners appends all objects of a kind that controls pods.
func listOwners(
	ctx context.Context, clients client.Clients, kind *workload.Kind, namespace string, into *[]workload.Object,
) error {
	core, apps, batch := clients.Kubernetes.CoreV1(), clients.Kubernetes.AppsV1(), clients.Kubernetes.BatchV1()
	page := map[string]pager.ListPageFunc{
		"deployments":            pageOf(apps.Deployments(namespace).List),
		"replicasets":            pageOf(apps.ReplicaSets(namespace).List),
		"statefulsets":           pageOf(apps.StatefulSets(namespace).List),
		"jobs":                   pageOf(batch.Jobs(namespace).List),
		"cronjobs":               pageOf(batch.CronJobs(namespace).List),
		"replicationcontrollers": pageOf(core.ReplicationControllers(namespace).List),
	}[kind.Resource]
	if page == nil {
		return fmt.Errorf("no client lists %s", kind.GroupVersionKind)
	}
	return eachItem(ctx, page, func(owner workload.Object) { *into = append(*into, owner) })
}

// list appends all objects of a kind, which it asks for page by page.
func list[L runtime.Object, T any](
	ctx context.Context, page func(context.Context, metav1.ListOptions) (L, error), into *[]T,
) error {
	return eachItem(ctx, pageOf(page), func(item *T) { *into = append(*into, *item) })
}

func pageOf[L runtime.Object](page func(context.Context, metav1.ListOptions) (L, error)) pager.ListPageFunc {
	return func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return page(ctx, options)
	}
}

// eachItem calls visit with the objects of all pages.
func eachItem[T any](ctx context.Context, page pager.ListPageFunc, visit func(T)) error {
	return pager.New(page).EachListItemWithAlloc(ctx, metav1.ListOptions{}, func(object runtime.Object) error {
		item, ok := object.(any).(T)
		if !ok {
			return fmt.Errorf("the list holds a %T", object)
		}
		visit(item)
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

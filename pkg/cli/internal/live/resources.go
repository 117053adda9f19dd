// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"cmp"
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/explain/placement"
)

// ReadClusterResources lists all ClusterResources, by name. The error says in one line what keeps
// it from reading.
func ReadClusterResources(ctx context.Context, clients client.Clients) ([]berthv1alpha1.ClusterResource, error) {
	var found []berthv1alpha1.ClusterResource
	if err := list(ctx, clients.Berth.BerthV1alpha1().ClusterResources().List, &found); err != nil {
		return nil, client.DescribeBerthError("listing clusterresources", err)
	}
	slices.SortFunc(found, func(a, b berthv1alpha1.ClusterResource) int { return cmp.Compare(a.Name, b.Name) })
	return found, nil
}

// ReadSubscriptions lists the Subscriptions of a namespace into the objects. Where the kind is not
// installed there are none.
func ReadSubscriptions(ctx context.Context, clients client.Clients, namespace string, o *placement.Objects) error {
	err := list(ctx, clients.Berth.BerthV1alpha1().Subscriptions(namespace).List, &o.Subscriptions)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return client.DescribeError("listing subscriptions"+in(namespace), err)
}

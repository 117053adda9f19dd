// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/source"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/internal/singleton"
	"berth.dev/berth/pkg/controllers/state"
)

// watchTopology begins a controller that makes one pass over all Clusters when nodes come, go or
// change, afterNode later, and when a Cluster does, the given pause later.
func watchTopology(mgr ctrl.Manager, name string, topology *state.Tracker, pause time.Duration) *builder.TypedBuilder[singleton.Key] {
	return builder.TypedControllerManagedBy[singleton.Key](mgr).
		Named(name).
		WatchesRawSource(source.TypedKind(mgr.GetCache(), &berthv1alpha1.Cluster{},
			singleton.After[*berthv1alpha1.Cluster](pause, topology.Invalidate), state.ClusterChanges())).
		WatchesRawSource(source.TypedKind(mgr.GetCache(), &corev1.Node{},
			singleton.After[*corev1.Node](afterNode, topology.Invalidate), state.NodeChanges()))
}

// policyChanges are the policies that come, go or change: some weigh Clusters by what is counted.
func policyChanges(mgr ctrl.Manager) source.TypedSource[singleton.Key] {
	return source.TypedKind(mgr.GetCache(), &berthv1alpha1.PropagationPolicy{}, singleton.After[*berthv1alpha1.PropagationPolicy](afterCluster),
		singleton.Changes(func(a, b *berthv1alpha1.PropagationPolicy) bool { return a.Generation != b.Generation }))
}

// policies lists all policies. They must not be changed.
func policies(ctx context.Context, c client.Client) ([]berthv1alpha1.PropagationPolicy, error) {
	var list berthv1alpha1.PropagationPolicyList
	if err := c.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing policies: %w", err)
	}
	return list.Items, nil
}

// patchStatus writes what differs between two states of a Cluster's status. The patch holds the
// version of the first one, so nothing that others wrote in between can get lost in it: then the
// error is a conflict. A Cluster that is gone needs no status.
func patchStatus(ctx context.Context, c client.Client, before, after *berthv1alpha1.Cluster) error {
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := client.IgnoreNotFound(c.Status().Patch(ctx, after, patch)); err != nil {
		return fmt.Errorf("writing the status of cluster %s: %w", before.Name, err)
	}
	return nil
}

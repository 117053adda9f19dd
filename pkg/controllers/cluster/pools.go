// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/internal/singleton"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/model/capacity"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/placement/pool"
)

const poolControllerName = "cluster-pools"

// PoolReconciler writes what Clusters have of ClusterResources, status.pools. It is a controller of
// its own so that Clusters do not wait for the definition of ClusterResources.
type PoolReconciler struct {
	// Client reads from the cache and writes the status.
	Client client.Client
	// Topology tells the nodes of each Cluster.
	Topology *state.Tracker
	// Clock tells the time.
	Clock clock.PassiveClock
}

// SetupWithManager registers the controller.
func (r *PoolReconciler) SetupWithManager(mgr ctrl.Manager) error {
	err := watchTopology(mgr, poolControllerName, r.Topology, afterNode).
		WatchesRawSource(source.TypedKind(mgr.GetCache(), &berthv1alpha1.ClusterResource{}, singleton.After[*berthv1alpha1.ClusterResource](afterNode),
			singleton.Changes(func(a, b *berthv1alpha1.ClusterResource) bool {
				return a.Generation != b.Generation || !apiequality.Semantic.DeepEqual(a.Status.Allocatable, b.Status.Allocatable)
			}))).
		WatchesRawSource(policyChanges(mgr)).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the controller of the pools of clusters: %w", err)
	}
	return nil
}

// Reconcile brings the pools of every Cluster up to date.
func (r *PoolReconciler) Reconcile(ctx context.Context, _ singleton.Key) (reconcile.Result, error) {
	snapshot, err := r.Topology.Snapshot(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	resources, err := r.list(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	policies, err := policies(ctx, r.Client)
	if err != nil {
		return reconcile.Result{}, err
	}
	asked := capacity.AskedBy(policies)
	return writeEach(snapshot, func(c *topology.Cluster) (time.Duration, error) {
		return r.write(ctx, c, asked.Pools(c.Nodes, resources))
	})
}

// list reads the pools of the ClusterResources that can be used, in the order of their names.
func (r *PoolReconciler) list(ctx context.Context) ([]*pool.Resource, error) {
	var list berthv1alpha1.ClusterResourceList
	if err := r.Client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing cluster resources: %w", err)
	}
	return pool.UsableByName(list.Items), nil
}

// write updates the pools of one Cluster if it is time, and returns after which time it will be, 0
// if there is nothing to change. A Cluster that is new and a ClusterResource that comes wait for
// nothing.
func (r *PoolReconciler) write(ctx context.Context, c *topology.Cluster, pools []berthv1alpha1.ClusterPools) (time.Duration, error) {
	before, now := &berthv1alpha1.Cluster{}, r.Clock.Now()
	if err := r.Client.Get(ctx, client.ObjectKeyFromObject(c.Object), before); err != nil {
		return 0, client.IgnoreNotFound(err)
	}
	status := &before.Status
	if before.UID != c.Object.UID || slices.Equal(status.Pools, pools) {
		return 0, nil
	}
	if left := held(before, status.PoolsTime, now); left > 0 && !comes(status.Pools, pools) {
		return left, nil
	}
	after := before.DeepCopy()
	after.Status.Pools, after.Status.PoolsTime = pools, &metav1.Time{Time: now}
	return 0, patchStatus(ctx, r.Client, before, after)
}

// comes reports whether there is a ClusterResource that there was not, or of which there was
// nothing.
func comes(before, after []berthv1alpha1.ClusterPools) bool {
	return slices.ContainsFunc(after, func(p berthv1alpha1.ClusterPools) bool {
		return !slices.ContainsFunc(before, func(q berthv1alpha1.ClusterPools) bool {
			return q.ClusterResource == p.ClusterResource && (q.Units > 0 || p.Units == 0)
		})
	})
}

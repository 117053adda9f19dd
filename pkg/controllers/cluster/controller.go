// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cluster keeps the status of Clusters, with four controllers:
//
//	Reconciler        nodes of each Cluster, those that other Clusters hold; the conditions Ready
//	                  and Conflicted
//	OnlineReconciler  the condition Online
//	PoolReconciler    what there is of ClusterResources
//	RoomReconciler    the room that policies weigh clusters by
//
// Each leaves the conditions of the other, and of everybody else, alone.
package cluster

import (
	"context"
	"fmt"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/internal/singleton"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/model/topology"
)

// controllerName is the name of the controller in logs and metrics.
const controllerName = "cluster"

// Pauses between a change and the pass that takes it up, so that a burst makes few writes.
const (
	afterNode     = 500 * time.Millisecond
	afterCluster  = 50 * time.Millisecond
	afterStatus   = time.Second
	afterConflict = 500 * time.Millisecond
)

// Reconciler writes the status of Clusters.
//
// A change of one Cluster can give or take nodes of every other, so there is one key for all: each
// pass is over all of them, and writes only what has changed. A burst of node events makes one
// pass.
type Reconciler struct {
	// Client reads from the cache and writes the status.
	Client client.Client
	// Topology tells the nodes of each Cluster.
	Topology *state.Tracker
	// Clock tells the time.
	Clock clock.PassiveClock
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	err := watchTopology(mgr, controllerName, r.Topology, afterCluster).
		WatchesRawSource(source.TypedKind(mgr.GetCache(), &berthv1alpha1.Cluster{},
			singleton.After[*berthv1alpha1.Cluster](afterStatus), statusChanges())).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the cluster controller: %w", err)
	}
	return nil
}

// statusChanges lets updates pass that touch what this controller writes, so that what somebody
// else overwrote is set right again. Our own writes come by too and find nothing to do.
func statusChanges() predicate.TypedPredicate[*berthv1alpha1.Cluster] {
	return predicate.TypedFuncs[*berthv1alpha1.Cluster]{
		CreateFunc: func(event.TypedCreateEvent[*berthv1alpha1.Cluster]) bool { return false },
		UpdateFunc: func(e event.TypedUpdateEvent[*berthv1alpha1.Cluster]) bool {
			return !apiequality.Semantic.DeepEqual(e.ObjectOld.Status, e.ObjectNew.Status)
		},
		DeleteFunc: func(event.TypedDeleteEvent[*berthv1alpha1.Cluster]) bool { return false },
	}
}

// Reconcile brings the status of every Cluster up to date.
func (r *Reconciler) Reconcile(ctx context.Context, _ singleton.Key) (reconcile.Result, error) {
	snapshot, err := r.Topology.Snapshot(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	return writeEach(snapshot, func(c *topology.Cluster) (time.Duration, error) { return r.write(ctx, c) })
}

// write updates the status of one Cluster if it differs. It returns after which time there is more
// to write, 0 for never.
func (r *Reconciler) write(ctx context.Context, c *topology.Cluster) (time.Duration, error) {
	before := &berthv1alpha1.Cluster{}
	if err := r.Client.Get(ctx, client.ObjectKeyFromObject(c.Object), before); err != nil {
		return 0, client.IgnoreNotFound(err)
	}
	if before.UID != c.Object.UID || before.Generation != c.Object.Generation {
		// The snapshot is of another spec. The event of the change asks for the next pass.
		return 0, nil
	}
	after := before.DeepCopy()
	next := setAllocatable(after, c, r.Clock.Now())
	setStatus(after, c)
	if apiequality.Semantic.DeepEqual(before.Status, after.Status) {
		return next, nil
	}
	if err := patchStatus(ctx, r.Client, before, after); err != nil {
		return 0, err
	}
	return next, nil
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/internal/singleton"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/model/capacity"
	"berth.dev/berth/pkg/model/topology"
)

const (
	roomControllerName = "cluster-room"
	// roomAgain is after how long the pods are counted again. Nobody hears of each.
	roomAgain = time.Minute
)

// RoomReconciler writes what others leave of Clusters to policies that weigh by it, status.room. As
// long as there is no such policy it writes nothing and counts no pods.
type RoomReconciler struct {
	// Client reads from the cache and writes the status.
	Client client.Client
	// Topology tells the nodes of each Cluster.
	Topology *state.Tracker
	// Clock tells the time.
	Clock clock.PassiveClock
}

// SetupWithManager registers the controller.
func (r *RoomReconciler) SetupWithManager(mgr ctrl.Manager) error {
	err := watchTopology(mgr, roomControllerName, r.Topology, afterNode).
		WatchesRawSource(policyChanges(mgr)).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the controller of the room in clusters: %w", err)
	}
	return nil
}

// Reconcile brings the room of every Cluster up to date.
func (r *RoomReconciler) Reconcile(ctx context.Context, _ singleton.Key) (reconcile.Result, error) {
	snapshot, err := r.Topology.Snapshot(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	policies, err := policies(ctx, r.Client)
	if err != nil {
		return reconcile.Result{}, err
	}
	var rooms map[string]corev1.ResourceList
	var again time.Duration
	if asked := capacity.AskedBy(policies); !asked.None() {
		var pods corev1.PodList
		if err := r.Client.List(ctx, &pods, client.UnsafeDisableDeepCopy); err != nil {
			return reconcile.Result{}, fmt.Errorf("listing pods: %w", err)
		}
		rooms, again = asked.Rooms(snapshot, pods.Items), roomAgain
	}
	return writeEach(snapshot, func(c *topology.Cluster) (time.Duration, error) {
		return again, r.write(ctx, c.Object.Name, rooms[c.Object.Name])
	})
}

// write updates the room of one Cluster if it is time. A resource that comes waits for nothing, and
// one that nobody asks for any more goes at once.
func (r *RoomReconciler) write(ctx context.Context, name string, room corev1.ResourceList) error {
	before, now := &berthv1alpha1.Cluster{}, r.Clock.Now()
	if err := r.Client.Get(ctx, client.ObjectKey{Name: name}, before); err != nil {
		return client.IgnoreNotFound(err)
	}
	status := &before.Status
	if capacity.Alike(status.Room, room) {
		return nil
	}
	if sameResources(status.Room, room) && held(before, status.RoomTime, now) > 0 {
		return nil
	}
	after := before.DeepCopy()
	after.Status.Room, after.Status.RoomTime = room, &metav1.Time{Time: now}
	if len(room) == 0 {
		after.Status.RoomTime = nil
	}
	return patchStatus(ctx, r.Client, before, after)
}

// sameResources reports whether two lists tell of the same resources.
func sameResources(a, b corev1.ResourceList) bool {
	for name := range b {
		if _, found := a[name]; !found {
			return false
		}
	}
	return len(a) == len(b)
}

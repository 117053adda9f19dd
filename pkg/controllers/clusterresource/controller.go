// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package clusterresource keeps the status of ClusterResources: which pools there are, what pods
// hold of each, how many pods wait, and who holds most. It publishes the pools of spec.capacity,
// which is what the scheduler goes by, and keeps a ClusterResource that is being deleted until
// nobody holds any of it.
//
// A pod counts from the moment it is bound until it has ended or is gone, whatever becomes of its
// node. What Berth charged it when it bound it counts from then on; pods that something else bound
// are charged by the same rule, from their node.
//
// There is one key for all, so that a burst of pods makes one pass and few writes.
package clusterresource

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/internal/singleton"
	"berth.dev/berth/pkg/controllers/state"
)

// controllerName is the name of the controller in logs and metrics.
const controllerName = "clusterresource"

// Pauses between a change and the pass that takes it up, so that a burst makes few writes.
const (
	afterObject   = 50 * time.Millisecond
	afterPod      = 300 * time.Millisecond
	afterNode     = 500 * time.Millisecond
	afterConflict = 500 * time.Millisecond
	// recount is the longest time without a pass, whatever changes.
	recount = time.Minute
)

// Reconciler writes the status of ClusterResources.
type Reconciler struct {
	// Client reads from the cache, which must have state.ConcernedIndex, and writes the status and
	// the finalizer.
	Client client.Client
	// Live reads from the API server. It is asked before a ClusterResource is let go.
	Live client.Reader
	// Clock is what the age of pods that wait goes by.
	Clock clock.PassiveClock
	// Recorder takes events about ClusterResources.
	Recorder events.EventRecorder
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	err := builder.TypedControllerManagedBy[singleton.Key](mgr).
		Named(controllerName).
		WatchesRawSource(source.TypedKind(mgr.GetCache(), &berthv1alpha1.ClusterResource{},
			singleton.After[*berthv1alpha1.ClusterResource](afterObject))).
		WatchesRawSource(source.TypedKind(mgr.GetCache(), &corev1.Pod{}, singleton.After[*corev1.Pod](afterPod), podChanges())).
		WatchesRawSource(source.TypedKind(mgr.GetCache(), &corev1.Node{}, singleton.After[*corev1.Node](afterNode), state.NodeChanges())).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the clusterresource controller: %w", err)
	}
	return nil
}

// Reconcile brings the status of every ClusterResource up to date.
func (r *Reconciler) Reconcile(ctx context.Context, _ singleton.Key) (reconcile.Result, error) {
	var list berthv1alpha1.ClusterResourceList
	if err := r.Client.List(ctx, &list); err != nil {
		return reconcile.Result{}, fmt.Errorf("listing cluster resources: %w", err)
	}
	if len(list.Items) == 0 {
		amounts.set(nil)
		amounts.setOldest(r.Clock.Now(), nil)
		return reconcile.Result{}, nil
	}
	seen, err := r.observe(ctx, list.Items)
	if err != nil {
		return reconcile.Result{}, err
	}
	amounts.set(seen)
	var errs []error
	result := reconcile.Result{RequeueAfter: recount}
	for i := range seen {
		err := r.update(ctx, seen[i])
		if apierrors.IsConflict(err) {
			// The cache lags behind, or somebody else wrote in between.
			result.RequeueAfter = afterConflict
			continue
		}
		errs = append(errs, client.IgnoreNotFound(err))
	}
	return result, errors.Join(errs...)
}

// update writes what of one ClusterResource is not as it should be.
func (r *Reconciler) update(ctx context.Context, seen *observed) error {
	before := seen.object
	if before.DeletionTimestamp == nil {
		held, err := r.addFinalizer(ctx, before)
		if err != nil {
			return err
		}
		before = held
	} else if seen.holders() == 0 {
		return r.removeFinalizer(ctx, before)
	}
	after := before.DeepCopy()
	setStatus(after, seen)
	if apiequality.Semantic.DeepEqual(before.Status, after.Status) {
		return nil
	}
	// The patch holds the version it was computed from, so what another program reports cannot get
	// lost in it.
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Status().Patch(ctx, after, patch); err != nil {
		return fmt.Errorf("writing the status of cluster resource %s: %w", before.Name, err)
	}
	r.recordEvents(before, after)
	return nil
}

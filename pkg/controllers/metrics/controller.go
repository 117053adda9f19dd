// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"errors"
	"fmt"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/internal/singleton"
)

// controllerName is the name of the controller in logs and metrics.
const controllerName = "metrics"

// pause is how long changes are collected before they are written.
const pause = 500 * time.Millisecond

// Reconciler writes what the Sampler has read.
type Reconciler struct {
	// Client reads from the cache and writes the status.
	Client client.Client
	// Clock tells the time.
	Clock clock.PassiveClock
	// Threshold is by how much a normalised value must differ from the one written before it is
	// written anew.
	Threshold float64

	sampler     *Sampler
	constraints constraints
}

// New returns a Reconciler for what the Sampler reads.
func New(c client.Client, sampler *Sampler, threshold float64) *Reconciler {
	return &Reconciler{Client: c, Clock: sampler.options.Clock, Threshold: threshold, sampler: sampler}
}

// SetupWithManager registers the controller and the Sampler.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	controller := builder.TypedControllerManagedBy[singleton.Key](mgr).Named(controllerName).
		WatchesRawSource(source.TypedChannel(r.sampler.changed, singleton.After[client.Object](pause)))
	for _, place := range []client.Object{
		&berthv1alpha1.Cluster{}, &berthv1alpha1.Cloud{}, &berthv1alpha1.GlobalCloud{}, &berthv1alpha1.OpenStackProject{},
	} {
		controller.WatchesRawSource(source.TypedKind(mgr.GetCache(), place,
			singleton.After[client.Object](pause, r.sampler.notice), predicate.Or(newSpec(), predicate.LabelChangedPredicate{})))
	}
	for _, origin := range []client.Object{
		&berthv1alpha1.GlobalMetric{}, &berthv1alpha1.Metric{},
		&berthv1alpha1.GlobalMetricsProvider{}, &berthv1alpha1.MetricsProvider{},
	} {
		controller.WatchesRawSource(source.TypedKind(mgr.GetCache(), origin, singleton.After[client.Object](pause, r.sampler.notice), newSpec()))
	}
	err := controller.Complete(r)
	if err == nil {
		err = mgr.Add(r.sampler)
	}
	if err != nil {
		return fmt.Errorf("setting up the metrics controller: %w", err)
	}
	return nil
}

// newSpec lets pass what users change.
func newSpec() predicate.Predicate {
	return predicate.GenerationChangedPredicate{}
}

// Reconcile brings everything up to date with the last readings.
func (r *Reconciler) Reconcile(ctx context.Context, _ singleton.Key) (reconcile.Result, error) {
	w, err := readWorld(ctx, r.Client)
	if err != nil {
		return reconcile.Result{}, err
	}
	if len(w.metrics) > 0 {
		if w.constraints, err = r.constraints.read(ctx, r.Client); err != nil {
			return reconcile.Result{}, err
		}
	}
	if w.places, err = places(ctx, r.Client); err != nil {
		return reconcile.Result{}, err
	}
	now := r.Clock.Now()
	var errs []error
	var result reconcile.Result
	write := func(object client.Object, set func(client.Object)) {
		err := r.write(ctx, object, set)
		if apierrors.IsConflict(err) {
			// The cache lags behind, or another controller wrote its part in between.
			result.RequeueAfter = pause
			return
		}
		errs = append(errs, err)
	}
	for _, m := range w.metrics {
		if m.perPlace() {
			write(m.object, func(o client.Object) { r.setPerPlace(w, m, o, now) })
		} else if found, read := r.sampler.readings.metric(readingKey{m.uid, m.query()}); read {
			write(m.object, func(o client.Object) { r.setMetric(o, measure(m, found, now), now) })
		}
	}
	for _, p := range w.providers {
		if failed, asked := r.sampler.readings.provider(p.uid); asked {
			write(p.object, func(o client.Object) { setProvider(o, failed) })
		}
	}
	for _, object := range w.places {
		write(object, func(o client.Object) { r.setPlace(w, o, now) })
	}
	return result, errors.Join(errs...)
}

// write updates the status of an object if it differs. The patch holds the version it was computed
// from, so what other controllers wrote cannot get lost in it.
func (r *Reconciler) write(ctx context.Context, before client.Object, set func(client.Object)) error {
	after, ok := before.DeepCopyObject().(client.Object)
	if !ok {
		return nil
	}
	set(after)
	if apiequality.Semantic.DeepEqual(before, after) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Status().Patch(ctx, after, patch); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("writing the status of %T %s: %w", before, client.ObjectKeyFromObject(before), err)
	}
	return nil
}

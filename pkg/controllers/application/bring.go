// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/migrate"
)

// bringAll brings all objects one step further. It goes on after a failure, and reports whether one
// of them is moving.
func (w *writer) bringAll(ctx context.Context, objects []*object, seen *observed) (moving bool, err error) {
	errs := make([]error, 0, len(objects))
	for _, o := range objects {
		moves, err := w.bring(ctx, o, seen)
		moving = moving || moves
		errs = append(errs, err)
	}
	return moving, errors.Join(errs...)
}

// bring brings one object that belongs to the Application one step further: its policy first, then
// the number of its replicas and the object itself. It reports whether the object is moving.
func (w *writer) bring(ctx context.Context, o *object, seen *observed) (moving bool, err error) {
	live, missing, err := w.readLive(ctx, o)
	if err != nil {
		return false, err
	}
	if o.policy == "" {
		return false, w.apply(ctx, o, missing)
	}
	if err := w.claimPods(ctx, o, live, missing, seen.policies[o.policy]); err != nil {
		return false, err
	}
	must := missing || live != nil && !metav1.IsControlledBy(live, w.app) // It was handed over.
	step := migrate.Next(o.workload(w.app, seen, live))
	if err := w.writePolicy(ctx, o, seen.policies[o.policy], step); err != nil {
		return step.Moving, err
	}
	switch {
	case o.replicas != nil:
		if err := unstructured.SetNestedField(o.Object, step.Replicas, "spec", "replicas"); err != nil {
			return step.Moving, fmt.Errorf("setting the replicas of %s: %w", o, err)
		}
		// What is to change is applied at once. What was applied, and has been changed by somebody else,
		// is put right like everything else.
		w.keeper.counts(objectID{w.app.Namespace, o.key()}, step.Scale)
	case step.Scale:
		if err := w.scale(ctx, o, live, step.Replicas); err != nil {
			return step.Moving, err
		}
	}
	return step.Moving, w.apply(ctx, o, must)
}

// workload returns what decides about the next step of an object with pods, given the object as it
// is, nil if that is not known. If somebody has deleted its policy during a move, it begins anew:
// pods that are not marked any more count as those of the cluster that it leaves, so that they are
// not forgotten.
func (o *object) workload(app *berthv1alpha1.Application, seen *observed, live client.Object) *migrate.Situation {
	stops := app.Spec.Migration == berthv1alpha1.MigrationStopFirst
	known := &migrate.Situation{
		Target: app.Status.ScheduledTo, StartFirst: o.startFirst && !stops, StopFirst: o.scales && stops,
		Manifest: o.replicas, Remembered: o.remembered(app), Surge: surgeOf(app, o.wants(app, seen)),
		Pods: seen.pods[o.policy], Leaving: seen.leaving[o.policy],
		Lowered: seen.scaled[o.policy].again(),
	}
	if replicas, read := workload.ReplicasOf(live); read {
		known.Live = new(int64(replicas))
	}
	move := app.Status.Move
	switch policy := seen.policies[o.policy]; {
	case policy != nil:
		known.Policy = policy.Spec.Placement.StaticWeightList
		known.Observed = policy.Status.ObservedGeneration >= policy.Generation
	case move != nil:
		known.Policy = []berthv1alpha1.StaticClusterWeight{{ClusterNames: []string{move.From}, Weight: 1}}
	}
	if move != nil && len(seen.astray[o.policy]) > 0 {
		known.Pods = maps.Clone(known.Pods)
		for _, pod := range seen.astray[o.policy] {
			known.Pods.Add(seen.bound(pod, stamp.Stamp{Policy: o.policy, Cluster: move.From}))
		}
	}
	return known
}

// remembered returns how many replicas somebody else wanted of the object when the move began that
// is under way, or that has ended early and is not undone yet; nil if there is none.
func (o *object) remembered(app *berthv1alpha1.Application) *int64 {
	known := app.Status.ReplicasBefore
	if app.Status.Move != nil {
		known = app.Status.Move.Replicas
	}
	if i := slices.IndexFunc(known, func(m berthv1alpha1.MovedReplicas) bool { return m.Policy == o.policy }); i >= 0 {
		return &known[i].Replicas
	}
	return nil
}

// readLive returns an object with replicas as the cache has it, nil for others and for kinds that
// are not in the cache. Missing reports that there is none.
func (w *writer) readLive(ctx context.Context, o *object) (live client.Object, missing bool, err error) {
	kind := workload.KindFor(o.GetAPIVersion(), o.GetKind())
	if kind == nil || !o.scales {
		return nil, false, nil
	}
	live = kind.NewObject()
	err = w.client.Get(ctx, client.ObjectKey{Namespace: w.app.Namespace, Name: o.GetName()}, live)
	switch {
	case apierrors.IsNotFound(err):
		return nil, true, nil
	case err != nil:
		return nil, false, fmt.Errorf("reading %s: %w", o, err)
	}
	return live, false, nil
}

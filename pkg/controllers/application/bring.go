// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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
	live := seen.live[o.policy]
	missing := live == nil && o.cached() != nil
	if o.policy == "" {
		return false, w.apply(ctx, o, missing)
	}
	if err := w.claimPods(ctx, o, live, missing, seen.policies[o.policy]); err != nil {
		return false, err
	}
	must := missing || live != nil && !metav1.IsControlledBy(live, w.app) // It was handed over.
	step := migrate.Next(o.workload(w.app, seen))
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
		w.keeper.counts(objectID{w.app.Namespace, o.key()}, live)
	case step.Scale:
		if err := w.scale(ctx, o, live, step.Replicas); err != nil {
			return step.Moving, err
		}
	}
	return step.Moving, w.apply(ctx, o, must)
}

// workload returns what decides about the next step of an object with pods. If somebody has deleted
// its policy during a move, it begins anew: pods that are not marked any more count as those of the
// cluster that it leaves, so that they are not forgotten.
func (o *object) workload(app *berthv1alpha1.Application, seen *observed) *migrate.Situation {
	stops := app.Spec.Migration == berthv1alpha1.MigrationStopFirst
	known := &migrate.Situation{
		Target: app.Status.ScheduledTo, StartFirst: o.startFirst && !stops, StopFirst: o.scales && stops,
		Manifest: o.replicas, Remembered: o.remembered(app), Warms: o.minReady > 0,
		Pods: seen.pods[o.policy], Leaving: seen.leaving[o.policy],
		Lowered: seen.scaled[o.policy].again(),
	}
	if replicas, read := workload.ReplicasOf(seen.live[o.policy]); read {
		known.Live = new(int64(replicas))
	}
	move := app.Status.Move
	switch policy := seen.policies[o.policy]; {
	case policy != nil:
		known.Policy = policy.Spec.Placement.StaticWeightList
		known.Observed = policy.Status.ObservedGeneration >= policy.Generation
		known.Held = policy.Spec.Rebalance.Mode == berthv1alpha1.RebalanceNever
	case move != nil:
		known.Policy = []berthv1alpha1.StaticClusterWeight{{ClusterNames: []string{move.From}, Weight: 1}}
	}
	known.Surge = surgeOf(app, known.Wanted())
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

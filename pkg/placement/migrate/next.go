// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"fmt"
	"math"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// Workload is what is known of a workload of an application. Numbers of replicas are at least 0.
type Workload struct {
	// Target is the cluster that is chosen for it.
	Target string
	// Policy is the shares of its policy as written last, nil while it has no policy.
	Policy []berthv1alpha1.StaticClusterWeight
	// Observed reports whether everybody who acts on the policy has seen these shares.
	Observed bool
	// StartFirst reports whether its replicas are interchangeable, so that more of them can be
	// started before the old ones go.
	StartFirst bool
	// Manifest is how many replicas the manifest gives it, nil if that is left to others, such as
	// an autoscaler.
	Manifest *int64
	// Live is how many replicas it has been given, nil while that is not known.
	Live *int64
	// Pods are its pods.
	Pods Pods
}

// Step is what a workload needs next.
type Step struct {
	// Policy is the shares that its policy must have.
	Policy []berthv1alpha1.StaticClusterWeight
	// Replicas is how many replicas it must have. They count only if Scale is true or the manifest
	// gives a number.
	Replicas int64
	// Scale reports whether it has another number of replicas, and the application may change that.
	Scale bool
	// Moving reports whether replicas are to start in the target before others go. Nothing may be
	// evicted meanwhile.
	Moving bool
}

// Next returns what the workload needs next. A step never asks for fewer replicas than are wanted,
// asks for fewer than there are only if those of other clusters go first, and names the target
// alone only when nothing runs elsewhere.
func Next(w *Workload) Step {
	step := w.step()
	step.Scale = w.Live != nil && *w.Live != step.Replicas && (w.Manifest != nil || step.Moving || w.Moving())
	return step
}

func (w *Workload) step() Step {
	alone := Step{Policy: []berthv1alpha1.StaticClusterWeight{{ClusterNames: []string{w.Target}, Weight: 1}}, Replicas: deref(w.Manifest, 1)}
	if len(w.Policy) == 0 || !w.StartFirst {
		return alone
	}
	wanted := w.wanted()
	alone.Replicas = wanted
	others := slices.DeleteFunc(w.clusters(), func(name string) bool { return name == w.Target })
	elsewhere, live := w.Pods.elsewhere(w.Target), deref(w.Live, wanted)
	if len(others) == 0 || elsewhere == 0 && live == wanted {
		return alone
	}
	least := int32(min(wanted, math.MaxInt32))
	both := Step{Replicas: wanted, Moving: true, Policy: []berthv1alpha1.StaticClusterWeight{
		{ClusterNames: []string{w.Target}, Weight: 1, Min: &least}, {ClusterNames: others, Weight: 1},
	}}
	switch {
	case !apiequality.Semantic.DeepEqual(w.Policy, both.Policy), !w.Observed:
		// More replicas would land in the wrong cluster as long as the policy is not known
		// everywhere.
		both.Replicas = max(wanted, live)
	case w.Pods[w.Target].Ready < wanted, !w.Pods.shrinksElsewhere(w.Target):
		both.Replicas = wanted + elsewhere
	}
	return both
}

// Moving reports whether the policy is that of a move, which names more than one cluster.
func (w *Workload) Moving() bool { return len(w.clusters()) > 1 }

// clusters returns the clusters that the policy names.
func (w *Workload) clusters() []string {
	var names []string
	for i := range w.Policy {
		names = append(names, w.Policy[i].ClusterNames...)
	}
	return names
}

// wanted returns how many replicas the workload should have when it has moved: those of the
// manifest or, where somebody else scales it, those that it had when the move began, which the
// policy remembers as the least of the target.
func (w *Workload) wanted() int64 {
	switch {
	case w.Manifest != nil:
		return *w.Manifest
	case w.Policy[0].Min != nil:
		return int64(*w.Policy[0].Min)
	default:
		return deref(w.Live, 1)
	}
}

// Progress returns why the workload does not run in its target yet, as the reason of a condition
// and a message that follows its name; both are empty if it does.
func Progress(w *Workload) (reason, message string) {
	here := w.Pods[w.Target]
	switch {
	case len(w.Policy) > 0 && (w.Moving() || w.Pods.elsewhere(w.Target) > 0):
		return berthv1alpha1.ReasonMigrating,
			fmt.Sprintf(" moves to cluster %s: %d of its pods are ready there", w.Target, here.Ready)
	case len(w.Policy) == 0, here.Ready < deref(w.Manifest, here.Bound):
		return berthv1alpha1.ReasonPodsNotReady, fmt.Sprintf(": %d of its pods are ready in cluster %s", here.Ready, w.Target)
	}
	return "", ""
}

func deref(number *int64, unknown int64) int64 {
	if number == nil {
		return unknown
	}
	return *number
}

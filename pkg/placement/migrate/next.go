// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"fmt"
	"maps"
	"math"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// Situation is what is known of a workload of an application. Numbers of replicas are at least 0.
type Situation struct {
	// Target is the cluster that is chosen for it.
	Target string
	// Policy is the shares of its policy as written last, nil while it has no policy.
	Policy []berthv1alpha1.StaticClusterWeight
	// Observed reports whether everybody who acts on the policy has seen these shares.
	Observed bool
	// Held reports whether its policy lets nothing be evicted.
	Held bool
	// StartFirst reports whether its replicas are interchangeable, so that more of them can be
	// started before the old ones go.
	StartFirst bool
	// StopFirst reports whether the old replicas must have gone before new ones start.
	StopFirst bool
	// Warms reports whether its replicas have to be ready for some time until they serve.
	Warms bool
	// Surge is how many replicas there may be beyond those wanted while it moves, at least 1; 0 for as
	// many as are wanted.
	Surge int64
	// Remembered is how many replicas were wanted when the move began, nil while that is not known or
	// it does not move, and is not on its way back from a move that ended early.
	Remembered *int64
	// Lowered reports whether somebody else lowers the number of replicas again and again.
	Lowered bool
	// Leaving is how many pods are being deleted and have not ended.
	Leaving int64
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
	// Held reports whether nothing may be evicted: while it moves, and where others start first after
	// another cluster was chosen, until as many as are wanted are there. A scheduler that has not
	// heard of the choice may still bind pods where it was before; then it moves as well.
	Held bool
}

// Next returns what the workload needs next. Unless it stops first, a step never asks for fewer
// replicas than are wanted, asks for fewer than there are only if those of other clusters go first,
// and names the target alone only when nothing runs elsewhere.
func Next(w *Situation) Step {
	step := w.step()
	changes := w.Manifest != nil || step.Moving || w.Moving() || w.Remembered != nil
	step.Scale = w.Live != nil && *w.Live != step.Replicas && changes
	elsewhere := w.Held || len(w.Policy) > 0 && !apiequality.Semantic.DeepEqual(w.Policy, step.Policy)
	step.Held = step.Moving || w.StartFirst && elsewhere && w.Pods[w.Target].Bound < w.Wanted()
	return step
}

func (w *Situation) step() Step {
	alone := Step{
		Policy:   []berthv1alpha1.StaticClusterWeight{{ClusterNames: []string{w.Target}, Weight: 1}},
		Replicas: deref(w.Manifest, deref(w.Remembered, 1)),
	}
	switch {
	case len(w.Policy) == 0 || !w.StartFirst && !w.StopFirst:
		return alone
	case w.StopFirst:
		return w.stopFirst(alone)
	}
	wanted := w.Wanted()
	alone.Replicas = wanted
	others := w.others()
	elsewhere, live := w.Pods.elsewhere(w.Target), deref(w.Live, wanted)
	if len(others) == 0 || elsewhere == 0 && live == wanted {
		return alone
	}
	part := w.part(wanted, elsewhere)
	both := Step{Replicas: wanted, Moving: true, Policy: w.both(part, wanted, elsewhere, others)}
	switch {
	case !apiequality.Semantic.DeepEqual(w.Policy, both.Policy), !w.Observed:
		// More replicas would land in the wrong cluster as long as the policy is not known
		// everywhere.
		both.Replicas = max(wanted, live)
	case w.Pods[w.Target].Ready < part, !w.Pods.keeps(w.Target, part):
		both.Replicas = w.starting(part, wanted, elsewhere)
	}
	if w.Pods.warming(w.Target, part >= wanted && w.Pods[w.Target].Ready >= part) {
		both.Replicas = max(both.Replicas, live)
	}
	return both
}

// others returns the clusters that the workload leaves: those that have pods, whether its policy
// names them or a pod was bound there while the policy changed, and all of the policy if none has.
// An empty one would have a share that new pods fill, which would count as old ones there: the
// workload would shrink by the new pods, and begin again.
func (w *Situation) others() []string {
	all := w.clusters()
	for _, name := range slices.Sorted(maps.Keys(w.Pods)) {
		if name != "" && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	all = slices.DeleteFunc(all, func(name string) bool { return name == w.Target })
	inhabited := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return w.Pods[name].Bound == 0 })
	if len(inhabited) == 0 {
		return all
	}
	return inhabited
}

// starting returns how many replicas the workload must have for those of a part to start. What a
// move to somewhere else has left beyond those wanted goes before: with 4 wanted, a surge of 1, and
// 5 replicas in the two clusters of a move that was given up, it shrinks to 4, and grows to 5 then.
func (w *Situation) starting(part, wanted, elsewhere int64) int64 {
	switch {
	case part+elsewhere <= wanted+w.surge(wanted):
		return max(wanted, part+elsewhere)
	case w.Pods.shrinksElsewhere(w.Target):
		return wanted
	}
	return max(wanted, deref(w.Live, wanted))
}

// surge returns how many replicas there may be beyond those wanted.
func (w *Situation) surge(wanted int64) int64 {
	if w.Surge <= 0 {
		return wanted
	}
	return min(wanted, w.Surge)
}

// part returns how many replicas the target is to have next: what it was given last, and at most
// the surge more once so many old ones have gone, or do not serve, as it has new ones, but never
// more than the surge beyond what it has. If no old one is left it is to have all. For example, of
// 5 replicas in a cluster that died none serves: each takes its place in the target as soon as it
// has been made room for, and none waits for another to become available.
func (w *Situation) part(wanted, elsewhere int64) int64 {
	surge := w.surge(wanted)
	if surge == wanted || elsewhere == 0 {
		return wanted
	}
	first, bound := &w.Policy[0], w.Pods[w.Target].Bound
	if !w.arriving() || first.Min == nil {
		return min(wanted, bound+surge)
	}
	part := min(wanted, int64(*first.Min), bound+surge)
	if w.Observed && bound >= part && w.Pods.servingElsewhere(w.Target) <= wanted-part {
		part = min(wanted, part+surge)
	}
	return part
}

// arriving reports whether the policy is that of a move to the target.
func (w *Situation) arriving() bool {
	return w.Moving() && len(w.Policy[0].ClusterNames) == 1 && w.Policy[0].ClusterNames[0] == w.Target
}

// both returns the shares of a move that gives the target so many replicas, and the rest to others.
func (w *Situation) both(part, wanted, elsewhere int64, others []string) []berthv1alpha1.StaticClusterWeight {
	least := int32(min(part, math.MaxInt32))
	target := berthv1alpha1.StaticClusterWeight{ClusterNames: []string{w.Target}, Weight: 1, Min: &least}
	if w.guards(part, wanted, elsewhere) {
		return append([]berthv1alpha1.StaticClusterWeight{target}, w.guarded(part, others)...)
	}
	if part < wanted {
		target.Max = &least
	}
	if shares, whole := w.limited(part, wanted, others); whole {
		return append([]berthv1alpha1.StaticClusterWeight{target}, shares...)
	}
	return []berthv1alpha1.StaticClusterWeight{target, {ClusterNames: others, Weight: 1}}
}

// limited returns shares of several clusters that leave no new replica a place there: one that
// finds none in the target would go to a cluster that has less than its share, and count as an old
// one. The workload would shrink by it, and begin again. Whole is false if these replicas are too
// few, or all in one cluster, whose share is what is there.
func (w *Situation) limited(part, wanted int64, others []string) (shares []berthv1alpha1.StaticClusterWeight, whole bool) {
	total := int64(0)
	for _, name := range others {
		had := w.had(part, name, func(s *berthv1alpha1.StaticClusterWeight) *int32 { return s.Max })
		total += int64(had)
		shares = append(shares, berthv1alpha1.StaticClusterWeight{ClusterNames: []string{name}, Weight: int64(had), Max: &had})
	}
	return shares, len(others) > 1 && total > 0 && total >= wanted-part
}

// stopFirst returns the step of a workload whose old replicas must have gone before new ones start:
// it shrinks to none, waits until no pod is left, changes its policy, waits until everybody has
// seen that, and grows again.
func (w *Situation) stopFirst(alone Step) Step {
	alone.Replicas = w.Wanted()
	stopped := Step{Policy: alone.Policy, Moving: true}
	if apiequality.Semantic.DeepEqual(w.Policy, alone.Policy) {
		if w.Live != nil && *w.Live == 0 && alone.Replicas > 0 && !w.Observed {
			return stopped
		}
		return alone
	}
	if w.Live == nil || *w.Live > 0 || w.Leaving > 0 || len(w.Pods) > 0 {
		stopped.Policy = w.Policy
	}
	return stopped
}

// Moving reports whether the policy is that of a move, which names more than one cluster.
func (w *Situation) Moving() bool { return len(w.clusters()) > 1 }

// clusters returns the clusters that the policy names.
func (w *Situation) clusters() []string {
	var names []string
	for i := range w.Policy {
		names = append(names, w.Policy[i].ClusterNames...)
	}
	return names
}

// Wanted returns how many replicas the workload should have when it has moved: those of the
// manifest or, where somebody else scales it, those that it had when the move began, which the
// policy of a move in one part remembers as the least of the target.
func (w *Situation) Wanted() int64 {
	switch {
	case w.Manifest != nil:
		return *w.Manifest
	case w.Remembered != nil:
		return *w.Remembered
	case len(w.Policy) > 0 && w.Policy[0].Min != nil:
		return int64(*w.Policy[0].Min)
	default:
		return deref(w.Live, 1)
	}
}

// Progress returns why the workload does not run in its target yet, as the reason of a condition
// and a message that follows its name; both are empty if it does.
func Progress(w *Situation) (reason, message string) {
	here := w.Pods[w.Target]
	switch {
	case len(w.Policy) > 0 && (w.Moving() || w.Pods.elsewhere(w.Target) > 0):
		message = fmt.Sprintf(" moves to cluster %s: %d of %d pods are available there", w.Target, here.Ready, w.Wanted())
		if w.Lowered {
			message += "; somebody else, such as an autoscaler, lowers its replicas again and again, which takes away new pods" +
				" that are not ready in time"
		}
		return berthv1alpha1.ReasonMigrating, message
	case len(w.Policy) == 0, here.Ready < w.Wanted():
		return berthv1alpha1.ReasonPodsNotReady, fmt.Sprintf(": %d of %d pods are available in cluster %s", here.Ready, w.Wanted(), w.Target)
	}
	return "", ""
}

// Stage returns how far the workload is on its way to the target.
func Stage(w *Situation) berthv1alpha1.MoveStep {
	alone := w.alone()
	switch here, part := w.Pods[w.Target], w.share(); {
	case alone && w.Pods.elsewhere(w.Target) == 0 && here.Ready >= part:
		return berthv1alpha1.MoveDone
	case w.StopFirst && !alone:
		return berthv1alpha1.MoveShrink
	case !alone && !w.arriving(), !w.Observed && !w.turns(part):
		return berthv1alpha1.MovePrepare
	case here.Bound < part:
		return berthv1alpha1.MoveStart
	case here.Ready < part:
		return berthv1alpha1.MoveAvailable
	}
	return berthv1alpha1.MoveShrink
}

// Rests reports whether the workload has come to rest in its target: it has the replicas that it is
// to have, and none of them elsewhere. Whether they are available is up to them.
func Rests(w *Situation) bool {
	return w.alone() && w.Pods.elsewhere(w.Target) == 0 && w.Live != nil && *w.Live == w.Wanted()
}

// alone reports whether the policy names the target and no other cluster.
func (w *Situation) alone() bool {
	return len(w.Policy) > 0 && !w.Moving() && w.clusters()[0] == w.Target
}

// share returns how many replicas the policy gives the target, all if it does not say.
func (w *Situation) share() int64 {
	if w.arriving() && w.Policy[0].Min != nil {
		return int64(*w.Policy[0].Min)
	}
	return w.Wanted()
}

func deref(number *int64, unknown int64) int64 {
	if number == nil {
		return unknown
	}
	return *number
}

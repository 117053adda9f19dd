// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate_test

import (
	"cmp"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/migrate"
)

// deployment is a Deployment with its ReplicaSet, the scheduler and the policy controller, as far
// as a move goes.
type deployment struct {
	migrate.Situation
	replicas int64
	pods     []migrate.BoundPod
}

// read brings up to date what is known of the Deployment.
func (d *deployment) read() {
	d.Live, d.Pods = new(d.replicas), counted(d.pods)
}

// wanted is how many replicas the user wants.
func (d *deployment) wanted() int64 {
	switch {
	case d.Manifest != nil:
		return *d.Manifest
	case d.Remembered != nil:
		return *d.Remembered
	}
	if d.Policy[0].Min != nil {
		return int64(*d.Policy[0].Min)
	}
	return d.replicas
}

// step does what Next asks for, and fails if that costs replicas.
func (d *deployment) step(t *rapid.T) migrate.Step {
	d.read()
	wanted, before := d.wanted(), *d
	step := migrate.Next(&d.Situation)
	if !step.Moving && len(d.pods) > int(d.Pods[d.Target].Bound) {
		t.Fatalf("the policy names %s alone although pods run elsewhere: %v", d.Target, d.pods)
	}
	if !slices.EqualFunc(d.Policy, step.Policy, sameShare) {
		d.Policy, d.Observed = step.Policy, false
	}
	if !step.Scale {
		return step
	}
	if step.Replicas > max(d.replicas, wanted) && !d.Observed && step.Moving {
		t.Fatalf("%d replicas after %d before everybody knows the policy", step.Replicas, d.replicas)
	}
	d.replicas = step.Replicas
	d.shrink()
	d.keepsReady(t, &before, step, wanted)
	return step
}

// keepsReady fails if the step that led here from before costs ready replicas that are wanted. Of a
// workload that rests somebody may want fewer while some have just become ready.
func (d *deployment) keepsReady(t *rapid.T, before *deployment, step migrate.Step, wanted int64) {
	t.Helper()
	rests := !step.Moving && slices.ContainsFunc(before.pods, func(pod migrate.BoundPod) bool { return pod.Warming })
	if got, least := ready(d.pods, ""), min(ready(before.pods, ""), wanted); got < least && !rests {
		t.Fatalf("the step from %d to %d replicas leaves %d ready, want %d or more", before.replicas, step.Replicas, got, least)
	}
	if most := max(before.replicas, wanted+surgeOf(before, wanted)); step.Replicas > most {
		t.Fatalf("the step from %d to %d replicas is beyond %d wanted and a surge of %d", before.replicas, step.Replicas, wanted, before.Surge)
	}
	if leaves := int64(len(d.pods)) > d.Pods[d.Target].Bound; leaves && step.Replicas == wanted && before.replicas > wanted {
		part := int64(*step.Policy[0].Min)
		// What is beyond the surge goes before anything is ready in the target.
		surplus := int64(len(before.pods))-before.Pods[d.Target].Bound+part > wanted+surgeOf(before, wanted)
		if got := ready(d.pods, d.Target); got < wanted && part >= wanted && !surplus {
			t.Fatalf("the step to %d replicas leaves %d ready in %s: %v", step.Replicas, got, d.Target, d.pods)
		}
	}
}

// surgeOf is how many replicas there may be beyond those wanted, as many as these if nothing is
// said.
func surgeOf(d *deployment, wanted int64) int64 {
	if d.Surge == 0 {
		return wanted
	}
	return min(wanted, d.Surge)
}

func ready(pods []migrate.BoundPod, cluster string) int64 {
	n := int64(0)
	for _, pod := range pods {
		if pod.Ready && (cluster == "" || pod.Cluster == cluster) {
			n++
		}
	}
	return n
}

// shrink deletes surplus pods as a ReplicaSet does: those that are not ready first, then by their
// deletion cost.
func (d *deployment) shrink() {
	slices.SortStableFunc(d.pods, func(a, b migrate.BoundPod) int {
		if d.order(a) != d.order(b) {
			return cmp.Compare(d.order(a), d.order(b))
		}
		return cmp.Compare(a.DeletionCost, b.DeletionCost)
	})
	if surplus := len(d.pods) - int(d.replicas); surplus > 0 {
		d.pods = slices.Clone(d.pods[surplus:])
	}
}

func (d *deployment) order(pod migrate.BoundPod) int {
	if pod.Ready || pod.Warming {
		return 1
	}
	return 0
}

// grow starts missing pods where the policy has seats: in clusters that keep so many, then in its
// first cluster up to the least number there, then in the last one that may have more. Where there
// is no seat they wait.
func (d *deployment) grow() {
	for int64(len(d.pods)) < d.replicas {
		in := d.next()
		if in == "" {
			return
		}
		d.pods = append(d.pods, migrate.BoundPod{Cluster: in, DeletionCost: -int64(len(d.pods))})
	}
}

// next returns the cluster where the policy has the next seat, empty if there is none.
func (d *deployment) next() string {
	there := counted(d.pods)
	first, last := &d.Policy[0], &d.Policy[len(d.Policy)-1]
	for _, entry := range d.Policy {
		if name := entry.ClusterNames[0]; entry.Replicas != nil && there[name].Bound < int64(*entry.Replicas) {
			return name
		}
	}
	if last.Replicas != nil || first.Min == nil || there[first.ClusterNames[0]].Bound < int64(*first.Min) {
		return first.ClusterNames[0]
	}
	for _, entry := range slices.Backward(d.Policy[1:]) {
		if name := entry.ClusterNames[0]; entry.Max == nil || there[name].Bound < int64(*entry.Max) {
			return name
		}
	}
	if first.Max == nil {
		return first.ClusterNames[0]
	}
	return ""
}

// restamp gives the pods their seats. Those of clusters that keep so many have the first, those of
// the first cluster of the policy the next ones, up to the least number there. Beyond it they take
// turns with those of others, unless the first cluster is to have no more.
func (d *deployment) restamp() {
	nth, kept, all := map[string]int{}, map[string]int{}, 0
	slices.SortStableFunc(d.pods, func(a, b migrate.BoundPod) int { return cmp.Compare(b.DeletionCost, a.DeletionCost) })
	for _, entry := range d.Policy[1:] {
		if entry.Replicas != nil {
			kept[entry.ClusterNames[0]], all = int(*entry.Replicas), all+int(*entry.Replicas)
		}
	}
	for i := range d.pods {
		here := d.pods[i].Cluster == d.Policy[0].ClusterNames[0]
		group := strconv.FormatBool(here)
		if all > 0 {
			group = d.pods[i].Cluster
		}
		n := nth[group]
		nth[group]++
		switch {
		case all == 0:
			d.pods[i].DeletionCost = -int64(d.place(here, n))
		case here:
			d.pods[i].DeletionCost = -int64(all + n)
		case n < kept[group]:
			d.pods[i].DeletionCost = -int64(n)
		default:
			d.pods[i].DeletionCost = -int64(4*len(d.pods) + n)
		}
	}
}

// place returns the seat of the nth pod here, in the first cluster of the policy, or elsewhere.
func (d *deployment) place(here bool, n int) int {
	first := &d.Policy[0]
	switch {
	case !here && first.Min == nil:
		return len(d.pods) + n
	case !here:
		return int(*first.Min) + 2*n + 1
	case first.Min == nil || n < int(*first.Min):
		return n
	case first.Max != nil:
		return 3*len(d.pods) + n
	}
	return 2*n - int(*first.Min)
}

// TestAMoveLosesNoReplica moves a workload between clusters while pods come up, get lost and change
// their seats in any order. No step may cost an available replica that is wanted; and once
// everybody does his part, the workload arrives and comes to rest.
func TestAMoveLosesNoReplica(t *testing.T) {
	clusters := []string{"berlin", "madrid", "rome"}
	rapid.Check(t, func(t *rapid.T) {
		d := &deployment{replicas: rapid.Int64Range(0, 5).Draw(t, "replicas")}
		d.StartFirst, d.Target, d.Policy, d.Observed = true, "berlin", shares("berlin"), true
		d.Surge, d.Warms = rapid.Int64Range(0, 3).Draw(t, "surge"), rapid.Bool().Draw(t, "warms")
		if rapid.Bool().Draw(t, "given") {
			d.Manifest = new(d.replicas)
		} else if d.Surge > 0 {
			d.Remembered = new(d.replicas)
		}
		d.grow()
		pod := func(t *rapid.T) int {
			if len(d.pods) == 0 {
				t.Skip("there are no pods")
			}
			return rapid.IntRange(0, len(d.pods)-1).Draw(t, "pod")
		}
		t.Repeat(map[string]func(*rapid.T){
			"":         func(*rapid.T) {},
			"step":     func(t *rapid.T) { d.step(t) },
			"grow":     func(*rapid.T) { d.grow() },
			"observe":  func(*rapid.T) { d.Observed = true },
			"restamp":  func(*rapid.T) { d.restamp() },
			"retarget": func(t *rapid.T) { d.Target = rapid.SampledFrom(clusters).Draw(t, "target") },
			"edit": func(t *rapid.T) {
				if d.Manifest != nil {
					d.Manifest = new(rapid.Int64Range(0, 5).Draw(t, "replicas"))
				}
			},
			"bind late": func(t *rapid.T) {
				if int64(len(d.pods)) < d.replicas {
					late := migrate.BoundPod{Cluster: rapid.SampledFrom(clusters).Draw(t, "cluster"), DeletionCost: -int64(len(d.pods))}
					d.pods = append(d.pods, late)
				}
			},
			"ready":   func(t *rapid.T) { i := pod(t); d.pods[i].Ready, d.pods[i].Warming = true, false },
			"warming": func(t *rapid.T) { i := pod(t); d.pods[i].Ready, d.pods[i].Warming = false, true },
			"unready": func(t *rapid.T) { i := pod(t); d.pods[i].Ready, d.pods[i].Warming = false, false },
			"lose":    func(t *rapid.T) { i := pod(t); d.pods = slices.Delete(d.pods, i, i+1) },
		})
		d.arrives(t)
	})
}

// arrives fails unless the workload comes to rest in its target.
func (d *deployment) arrives(t *rapid.T) {
	wanted := d.wanted()
	var step migrate.Step
	for range 40 { // A part takes three steps or four.
		step = d.step(t)
		d.shrink()
		d.grow()
		d.Observed = true
		d.restamp()
		for i := range d.pods {
			d.pods[i].Ready, d.pods[i].Warming = true, false
		}
	}
	d.read()
	if step.Moving || step.Scale || d.Moving() || d.replicas != wanted || d.Pods[d.Target].Ready != wanted || len(d.pods) != int(wanted) {
		t.Fatalf("the workload does not come to rest with %d replicas in %s: %+v, %v", wanted, d.Target, step, d.pods)
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package preemption

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/pool"
)

// priority is that of the pod for which others make way.
const priority = 5

// drawWorld makes a world in which every pool has too little for the pod.
func drawWorld(t *rapid.T) *world {
	w := newWorld(rapid.Int64Range(1, 3).Draw(t, "asked"))
	for _, site := range []string{"a", "b"} {
		w.free[site] = rapid.Int64Range(0, w.asked-1).Draw(t, "free")
	}
	for _, name := range []string{"a1", "a2", "b1"} {
		w.node(name, strconv.Itoa(rapid.IntRange(1, 3).Draw(t, "slots")))
	}
	w.budgets = []*policyv1.PodDisruptionBudget{budget("db", rapid.Int32Range(0, 1).Draw(t, "allowed"))}
	nodes := rapid.SampledFrom([]string{"a1", "a2", "b1", "a-gone", "b-gone"})
	for i := range rapid.IntRange(0, 6).Draw(t, "pods") {
		p := w.pod(fmt.Sprint("pod", i), nodes.Draw(t, "node"), rapid.SampledFrom([]int32{1, 2, 4, 5, 9}).Draw(t, "priority"),
			strconv.Itoa(rapid.IntRange(0, 2).Draw(t, "units")))
		if rapid.IntRange(0, 5).Draw(t, "leaving") == 0 {
			leaving(p, 0)
		}
		if rapid.IntRange(0, 3).Draw(t, "guarded") == 0 {
			p.Labels = map[string]string{"app": "db"}
		}
		w.others[p.UID] = rapid.IntRange(0, 7).Draw(t, "theirs") == 0
	}
	w.build()
	return w
}

// fits reports whether the pod runs on a node once those pods have gone for which gone is true.
func (w *world) fits(node *corev1.Node, gone func(*corev1.Pod) bool) bool {
	slots, units := node.Status.Allocatable.Pods().Value(), w.free[node.Name[:1]]
	for _, p := range w.pods {
		if p.Spec.NodeName == node.Name && !gone(p) {
			slots--
		}
		for _, c := range w.heldBy(p) {
			if gone(p) && c.Grantee == "" && c.Pool == node.Name[:1] {
				units += c.Quantity.Value()
			}
		}
	}
	return slots > 0 && units >= w.asked
}

// goes reports whether a pod is on its way out, or could be made to go.
func goes(p *corev1.Pod) bool {
	return isLeaving(p) || *p.Spec.Priority < priority
}

func isLeaving(p *corev1.Pod) bool { return p.DeletionTimestamp != nil }

// enough reports whether there would be enough units on a node if all those made way who can.
func (w *world) enough(node *corev1.Node) bool {
	units := w.free[node.Name[:1]]
	for _, p := range w.pods {
		for _, c := range w.heldBy(p) {
			if goes(p) && c.Grantee == "" && c.Pool == node.Name[:1] {
				units += c.Quantity.Value()
			}
		}
	}
	return units >= w.asked
}

// roomy reports whether pods of the node itself are in nobody's way, but for those on their way
// out.
func (w *world) roomy(node *corev1.Node) bool {
	slots := node.Status.Allocatable.Pods().Value()
	for _, p := range w.pods {
		if p.Spec.NodeName == node.Name && !isLeaving(p) {
			slots--
		}
	}
	return slots > 0
}

// cost is that of letting some pods make way.
func (w *world) cost(victims []*corev1.Pod) pool.Cost {
	var holders []*pool.Holder
	for _, p := range victims {
		h := &pool.Holder{Priority: corev1helpers.PodPriority(p), Started: now}
		if p.Labels != nil {
			h.Budgets = []int{0}
		}
		holders = append(holders, h)
	}
	return pool.CostOf(holders, []int32{w.budgets[0].Status.DisruptionsAllowed})
}

// Whoever waits is told the truth: it fits once others have gone who leave anyway, or once somebody
// of lower priority has, or neither. Nobody goes who need not, and where only units are lacking
// nobody cheaper would have done.
func TestWhoMakesWayIsEnoughAndNoMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		node, outcome := w.preempt(t.Context(), withPriority(named("high"), priority))
		want := NoVictims
		switch {
		case slices.ContainsFunc(w.nodes, func(n *corev1.Node) bool {
			return w.fits(n, isLeaving)
		}):
			want = ReleaseSuffices
		case slices.ContainsFunc(w.nodes, func(n *corev1.Node) bool {
			return w.enough(n) && w.fits(n, goes)
		}):
			want = Preempting
		}
		if outcome != want {
			t.Fatalf("the outcome is %d, want %d", outcome, want)
		}
		if outcome == Preempting {
			victims := w.wantEnough(t, node)
			w.wantNobodyCheaper(t, victims)
		}
	})
}

// wantEnough checks the victims that are to go for a place on a node, and returns them.
func (w *world) wantEnough(t *rapid.T, name string) []*corev1.Pod {
	t.Helper()
	node := w.nodes[slices.IndexFunc(w.nodes, func(n *corev1.Node) bool { return n.Name == name })]
	var victims []*corev1.Pod
	for _, p := range w.pods {
		if slices.Contains(w.victims, p.Name) {
			victims = append(victims, p)
		}
	}
	among := func(spared *corev1.Pod) func(*corev1.Pod) bool {
		return func(p *corev1.Pod) bool { return p != spared && (isLeaving(p) || slices.Contains(victims, p)) }
	}
	if !w.fits(node, among(nil)) {
		t.Fatalf("on node %s it is not enough that %v go", name, w.victims)
	}
	for _, v := range victims {
		if isLeaving(v) || !goes(v) || w.fits(node, among(v)) {
			t.Fatalf("pod %s need not go, of %v for node %s", v.Name, w.victims, name)
		}
	}
	return victims
}

// wantNobodyCheaper checks that no others would have done for a node where only units are lacking.
func (w *world) wantNobodyCheaper(t *rapid.T, victims []*corev1.Pod) {
	t.Helper()
	lower := slices.DeleteFunc(slices.Clone(w.pods), func(p *corev1.Pod) bool {
		return isLeaving(p) || *p.Spec.Priority >= priority
	})
	for mask := range 1 << len(lower) {
		var set []*corev1.Pod
		for i, p := range lower {
			if mask&(1<<i) != 0 {
				set = append(set, p)
			}
		}
		for _, n := range w.nodes {
			if w.roomy(n) && w.fits(n, func(p *corev1.Pod) bool { return isLeaving(p) || slices.Contains(set, p) }) &&
				w.cost(set).Compare(w.cost(victims)) < 0 {
				t.Fatalf("pods %v go, though it would be cheaper to let %d others go for node %s", w.victims, len(set), n.Name)
			}
		}
	}
}

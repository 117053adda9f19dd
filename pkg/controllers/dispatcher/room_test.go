// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatcher_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// homeWithinAMinute returns the home that the pod p is given within a minute, the one that it has
// if it keeps that.
func (h *harness) homeWithinAMinute() string {
	h.Helper()
	before := h.home("p")
	for range 30 {
		h.pass()
		if home := h.home("p"); home != before {
			return home
		}
		h.clock.Step(2 * time.Second)
	}
	return before
}

// surplus is the Deployment of web, with one pod too many in c2: of its ten replicas one waits, at
// a, and there is a free seat in c1 and one in c3.
func surplus(more ...client.Object) []client.Object {
	objects := append(two(more...), web(10)...)
	for cluster, held := range map[string]int{"c1": 1, "c2": 3, "c3": 5} {
		for i := range held {
			node := cluster + "-0"
			objects = append(objects, pod(fmt.Sprint(node, "-", i), ofWeb, on(node), stampedFor(cluster)))
		}
	}
	return objects
}

func scheduledAnyway(objects []client.Object) []client.Object {
	for _, o := range objects {
		if policy, ok := o.(*berthv1alpha1.PropagationPolicy); ok {
			policy.Spec.Placement.WhenUnsatisfiable = berthv1alpha1.ScheduleAnyway
		}
	}
	return objects
}

func TestAPodLeavesAHomeWithoutRoomForOneThatHasSome(t *testing.T) {
	waits := pod("p", ofWeb, licensed, at("a"), unschedulable)
	for name, tc := range map[string]struct {
		objects []client.Object
		want    string
	}{
		"a free seat whose pool has nothing left": {
			append(surplus(sitePools("c1", "1", "c3", "1"), holder("x", "c1-0")), waits), "b",
		},
		"a free seat whose nodes are full": {
			append(surplus(busy("c1-0"), busy("c1-1")), pod("p", ofWeb, at("a"), unschedulable, asking("1"))), "b",
		},
		"room at home, where it has no seat": {
			append(surplus(sitePools("c1", "1", "c2", "5", "c3", "1"), holder("x", "c1-0")), waits), "b",
		},
		"room nowhere": {
			append(surplus(sitePools("c1", "1", "c3", "1"), holder("x", "c1-0"), holder("y", "c3-1")), waits), "a",
		},
		"room at both": {append(surplus(sitePools("c1", "1", "c3", "1")), waits), "a"},
		"room where it has no seat, with ScheduleAnyway": {
			scheduledAnyway(append(surplus(append(site("c4", "d", 1), shard("d", true), sitePools("c1", "1", "c4", "1"),
				holder("x", "c1-0"))...), waits)), "d",
		},
		"without a policy": {
			two(sitePools("c1", "1", "c3", "1"), holder("x", "c1-0"), pod("p", licensed, at("a"), unschedulable)), "b",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, tc.objects...)
			if got := h.homeWithinAMinute(); got != tc.want {
				t.Errorf("home %q, want %q", got, tc.want)
			}
		})
	}
}

// However often its homes tried a pod in vain while nobody had room, it is not kept from room that
// there is now.
func TestRoomIsTakenWithinAMinuteAfterManyTriesInVain(t *testing.T) {
	taken := holder("x", "c1-0")
	h := newHarness(t, two(sitePools("c1", "1", "c3", "1"), taken, holder("y", "c3-0"), pod("p", licensed, at("a"), unschedulable))...)
	for range 30 {
		h.clock.Step(time.Minute)
		h.pass()
	}
	if got := h.home("p"); got != "b" {
		t.Fatalf("home %q, want b, the last one that has tried it", got)
	}
	if err := h.api.Delete(t.Context(), taken); err != nil {
		t.Fatal(err)
	}
	if got := h.homeWithinAMinute(); got != "a" {
		t.Errorf("home %q, want a", got)
	}
}

// A pass asks for so many pods, and the next ones for the others.
func TestAPassAsksABoundedNumberOfQuestions(t *testing.T) {
	taken := holder("x", "c1-0")
	objects := two(sitePools("c1", "1", "c3", "1"), taken, holder("y", "c3-0"))
	for i := range 100 {
		objects = append(objects, pod(fmt.Sprint("p", i), licensed, at("a"), unschedulable))
	}
	h := newHarness(t, objects...)
	h.pass()
	h.clock.Step(10 * time.Second)
	h.pass()
	if got := h.count()["b"]; got != 100 {
		t.Fatalf("%d pods are at b, want all, in vain", got)
	}
	if err := h.api.Delete(t.Context(), taken); err != nil {
		t.Fatal(err)
	}
	h.clock.Step(10 * time.Second)
	for _, want := range []int{64, 100} {
		h.pass()
		if got := h.count()["a"]; got != want {
			t.Fatalf("%d pods are at a, want %d", got, want)
		}
		h.clock.Step(2 * time.Second)
	}
}

// No scheduler tries a pod that has a gate, so it is not given a seat that another one could have.
func TestAPodWithAGateTakesNoSeat(t *testing.T) {
	objects := append(two(busy("c3-0"), busy("c3-1")), web(2)...)
	for _, o := range objects {
		if policy, ok := o.(*berthv1alpha1.PropagationPolicy); ok {
			policy.Spec.Placement.StaticWeightList = []berthv1alpha1.StaticClusterWeight{{ClusterNames: []string{"c1", "c3"}, Weight: 1}}
		}
	}
	h := newHarness(t, append(objects,
		pod("gated", ofWeb, at("a"), asking("1"), func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "later"}} }),
		pod("p", ofWeb, at("b"), unschedulable, asking("1")))...)
	if got := h.homeWithinAMinute(); got != "a" {
		t.Errorf("home %q, want a, which has a free seat and room", got)
	}
}

// However many pods nobody has room for, the others get an answer.
func TestEachPodIsAskedForInTurn(t *testing.T) {
	objects := append(surplus(busy("c1-0"), busy("c1-1")), pod("p", ofWeb, at("a"), unschedulable, asking("1")))
	for i := range 700 { // more than can be asked for before it is time again for the first
		objects = append(objects, pod(fmt.Sprint("many-", i), at("a"), unschedulable, asking("1"), func(p *corev1.Pod) {
			p.Namespace, p.Spec.NodeSelector = "another", map[string]string{"site": "c1"}
		}))
	}
	h := newHarness(t, objects...)
	if got := h.homeWithinAMinute(); got != "b" {
		t.Errorf("home %q, want b, which has a free seat and room", got)
	}
}

// TestAPassAsksWithinItsBound has more pods than a pass may ask for, each of which finds room at b
// only. The others go to the home with the least to do, which is a.
func TestAPassAsksWithinItsBound(t *testing.T) {
	objects := two(busy("c1-0"), busy("c1-1"), busy("c2-0"), busy("c2-1"))
	for i := range 100 {
		objects = append(objects, pod(fmt.Sprint("many-", i), unschedulable, asking("1"), func(p *corev1.Pod) { p.Namespace = "another" }))
	}
	h := newHarness(t, objects...)
	h.pass()
	if got := h.count(); got["b"] != 64 || got["a"] != 36 {
		t.Errorf("pods by home: %v, want 64 at b and 36 at a", got)
	}
}

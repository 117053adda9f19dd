// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/pkg/model/workload"
)

// Of a StatefulSet the next pod of a number is made once the one before is gone from its node.
func TestLeaving(t *testing.T) {
	set, rs := ownedBy("apps/v1", "StatefulSet", "db"), ownedBy("apps/v1", "ReplicaSet", "rs")
	clone := ownedBy("apps.kruise.io/v1alpha1", "CloneSet", "cs")
	objects := &workload.Objects{
		Owners: []workload.Object{statefulSet("db", "a", "a"), replicaSet("rs", nil, "", 2)},
		Pods: []corev1.Pod{
			pod("db-5", set), pod("db-6", set, terminating), pod("db-7", set, terminating, pending),
			pod("db-8", set, terminating, phase(corev1.PodSucceeded)), pod("rs-a", rs, terminating),
			pod("cs-a", clone), pod("cs-b", clone, terminating), pod("gone", ownedBy("apps/v1", "StatefulSet", "gone"), terminating),
			pod("bare", nil, terminating),
		},
	}
	got := map[string][]string{}
	for _, o := range workload.Observe(objects) {
		for _, p := range o.Leaving {
			got[o.Name] = append(got[o.Name], p.Name)
		}
	}
	if diff := cmp.Diff(map[string][]string{"db": {"db-6"}}, got); diff != "" {
		t.Errorf("pods whose end is waited for (-want +got):\n%s", diff)
	}
}

// The revisions of a workload are ReplicaSets, its own or those of an operator, or nothing.
func TestRevisionKind(t *testing.T) {
	d, rollout := ownedBy("apps/v1", "Deployment", "web"), ownedBy("argoproj.io/v1alpha1", "Rollout", "ro")
	objects := &workload.Objects{
		Owners: []workload.Object{
			deployment("web", "1", 1), replicaSet("web-1", d, "1", 1), replicaSet("ro-1", rollout, "", 0), statefulSet("db", "a", "a"),
			replicaSet("rs", nil, "", 1), job("j", false),
		},
		Pods: []corev1.Pod{pod("cs-a", ownedBy("apps.kruise.io/v1alpha1", "CloneSet", "cs")), pod("bare", nil)},
	}
	type answer struct {
		Kind    string
		Foreign bool
	}
	got := map[string]answer{}
	for _, o := range workload.Observe(objects) {
		a := answer{Foreign: o.Foreign()}
		if kind := o.RevisionKind(); kind != nil {
			a.Kind = kind.Kind
		}
		got[o.Name] = a
	}
	want := map[string]answer{"web": {Kind: "ReplicaSet"}, "ro": {"ReplicaSet", true}, "db": {}, "rs": {}, "j": {}, "cs": {}, "bare": {}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kinds of revisions (-want +got):\n%s", diff)
	}
}

func TestUnmade(t *testing.T) {
	rs, set := ownedBy("apps/v1", "ReplicaSet", "rs"), ownedBy("apps/v1", "StatefulSet", "db")
	clone := ownedBy("apps.kruise.io/v1alpha1", "CloneSet", "cs")
	ready := func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	gated := func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "quota"}} }
	inOrder, atOnce := []workload.Object{statefulSet("db", "a", "a")}, []workload.Object{replicaSet("rs", nil, "", 3)}
	tests := map[string]struct {
		objects              workload.Objects
		wanted               int64
		wantMade, wantUnmade int64
	}{
		"none yet":                       {workload.Objects{Owners: atOnce}, 3, 0, 3},
		"none wanted":                    {workload.Objects{Owners: atOnce}, 0, 0, 0},
		"some, ready or not":             {workload.Objects{Owners: atOnce, Pods: []corev1.Pod{pod("a", rs), pod("b", rs, ready)}}, 5, 2, 3},
		"more than wanted":               {workload.Objects{Owners: atOnce, Pods: []corev1.Pod{pod("a", rs), pod("b", rs)}}, 1, 2, 0},
		"a pod that is gated":            {workload.Objects{Owners: atOnce, Pods: []corev1.Pod{pod("a", rs), pod("b", rs, gated)}}, 3, 1, 2},
		"in order, none yet":             {workload.Objects{Owners: inOrder}, 3, 0, 3},
		"in order, the last is ready":    {workload.Objects{Owners: inOrder, Pods: []corev1.Pod{pod("a", set, ready)}}, 3, 1, 2},
		"in order, one is not":           {workload.Objects{Owners: inOrder, Pods: []corev1.Pod{pod("a", set), pod("b", set, ready)}}, 3, 2, 0},
		"in order, one is gated":         {workload.Objects{Owners: inOrder, Pods: []corev1.Pod{pod("a", set, ready), pod("b", set, gated)}}, 3, 1, 2},
		"of nobody knows what, waiting":  {workload.Objects{Pods: []corev1.Pod{pod("a", clone), pod("b", clone, ready)}}, 3, 2, 0},
		"of nobody knows what, all fine": {workload.Objects{Pods: []corev1.Pod{pod("a", clone, ready)}}, 3, 1, 2},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			made, unmade := workload.Observe(&tc.objects)[0].Unmade(tc.wanted)
			if made != tc.wantMade || unmade != tc.wantUnmade {
				t.Errorf("%d made and %d not, want %d and %d", made, unmade, tc.wantMade, tc.wantUnmade)
			}
		})
	}
	for wanted, want := range map[int64]int64{3: 3, 0: 0, -1: 0} {
		if made, unmade := (*workload.Observed)(nil).Unmade(wanted); made != 0 || unmade != want {
			t.Errorf("of a workload that is not there: %d made and %d not, want 0 and %d", made, unmade, want)
		}
	}
}

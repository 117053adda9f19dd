// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// A node that comes and goes changes what a Cluster has to give at most every ten minutes.
func TestAllocatableFollowsTheNodesSlowly(t *testing.T) {
	node := func(name string) *corev1.Node {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"site": "a"}}}
		n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}
		return n
	}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	h := newHarness(t, &berthv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Generation: 1, CreationTimestamp: metav1.NewTime(start.Add(-time.Hour))},
		Spec:       berthv1alpha1.ClusterSpec{MatchLabels: map[string]string{"site": "a"}},
	}, node("n1"), node("n2"))
	clk := clocktesting.NewFakePassiveClock(start)
	h.Clock = clk
	step := func(at time.Duration, want string, wantAgain time.Duration) {
		t.Helper()
		clk.SetTime(start.Add(at))
		again, err := h.pass()
		if err != nil {
			t.Fatal(err)
		}
		if got := h.get("a").Status.Allocatable.Cpu().String(); got != want || again != wantAgain {
			t.Errorf("after %v the cluster has %s cpu and is looked at after %v, want %s and %v", at, got, again, want, wantAgain)
		}
	}
	step(0, "8", 0)
	if err := h.api.Delete(t.Context(), node("n2")); err != nil {
		t.Fatal(err)
	}
	step(time.Minute, "8", 9*time.Minute)
	step(10*time.Minute, "4", 0)
	if err := h.api.Create(t.Context(), node("n3")); err != nil {
		t.Fatal(err)
	}
	step(15*time.Minute, "4", 5*time.Minute)
	c := h.get("a")
	c.Generation = 2
	if err := h.api.Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	step(16*time.Minute, "8", 0)
}

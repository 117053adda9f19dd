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
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/cluster"
	"berth.dev/berth/pkg/controllers/internal/singleton"
)

// roomyPolicy weighs clusters by the room for a resource.
func roomyPolicy(name, of string) *berthv1alpha1.PropagationPolicy {
	return &berthv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Spec: berthv1alpha1.PropagationPolicySpec{
		Placement: berthv1alpha1.Placement{ClusterGroups: []berthv1alpha1.ClusterGroup{{
			Name: "all", ClusterWeights: &berthv1alpha1.ClusterWeights{Type: berthv1alpha1.WeighRoom, Resource: of},
		}}},
	}}
}

// load is a pod that requests cpu of the node n1.
func load(name, cpu string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Spec: corev1.PodSpec{
		NodeName: "n1", Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)},
		}}},
	}}
}

// Room is told as long as a policy asks for it, and changes at most every ten minutes, but for
// resources that there were not.
func TestRoomIsToldToPoliciesThatWeighByIt(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := newCluster("a", "n1")
	c.CreationTimestamp = metav1.NewTime(start.Add(-time.Hour))
	node := newNode("n1", corev1.ConditionTrue)
	node.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourcePods: resource.MustParse("64")}
	h := newHarness(t, c, node)
	clk := clocktesting.NewFakePassiveClock(start)
	r := cluster.RoomReconciler{Client: h.api, Topology: h.tracker, Clock: clk}
	step := func(at time.Duration, wantCPU, wantPods string, wantAgain time.Duration) {
		t.Helper()
		clk.SetTime(start.Add(at))
		h.tracker.Invalidate()
		result, err := r.Reconcile(t.Context(), singleton.Key{})
		if err != nil {
			t.Fatal(err)
		}
		status := &h.get("a").Status
		if cpu, pods := status.Room.Cpu().String(), status.Room.Pods().String(); cpu != wantCPU || pods != wantPods || result.RequeueAfter != wantAgain {
			t.Errorf("after %v there is room for %s cpu and %s pods, looked at after %v, want %s and %s after %v",
				at, cpu, pods, result.RequeueAfter, wantCPU, wantPods, wantAgain)
		}
		if told := len(status.Room) > 0; told != (status.RoomTime != nil) {
			t.Errorf("after %v room is told: %t, and the time of it %v", at, told, status.RoomTime)
		}
	}
	create := func(o client.Object) {
		t.Helper()
		if err := h.api.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	step(0, "0", "0", 0)
	create(roomyPolicy("p", ""))
	step(time.Minute, "4", "0", time.Minute)
	create(load("web", "2"))
	step(2*time.Minute, "4", "0", time.Minute)
	create(roomyPolicy("q", "pods"))
	step(3*time.Minute, "2", "63", time.Minute)
	create(load("db", "1"))
	step(12*time.Minute, "2", "63", time.Minute)
	step(13*time.Minute, "1", "62", time.Minute)
	for _, name := range []string{"p", "q"} {
		if err := h.api.Delete(t.Context(), roomyPolicy(name, "")); err != nil {
			t.Fatal(err)
		}
	}
	step(14*time.Minute, "0", "0", 0)
	if len(h.writes) != 4 {
		t.Errorf("%d writes, want 4", len(h.writes))
	}
}

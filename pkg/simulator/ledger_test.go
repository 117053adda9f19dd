// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/bundle"
	"berth.dev/berth/pkg/plugintest"
)

// TestUnitsAreHeldForNodesThatAreAway has two nodes of two CPUs each, of which one is away, and
// three units of a pool.
func TestUnitsAreHeldForNodesThatAreAway(t *testing.T) {
	licence := &berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: "licence", UID: "licence", Generation: 1}}
	licence.Spec.Capacity = []berthv1alpha1.ClusterResourceQuantity{{Name: "all", Quantity: resource.MustParse("3")}}
	licence.Status.Allocatable = licence.Spec.Capacity
	two := map[corev1.ResourceName]string{corev1.ResourceCPU: "2", corev1.ResourcePods: "9"}
	s := snapshot(t, licence, plugintest.Site("beijing"), plugintest.Site("hangzhou"), away("hangzhou", 0, two),
		plugintest.MakeNode("beijing", 0).Capacity(two).Obj())
	sample := plugintest.MakePod("sample").Annotation(berthv1alpha1.PolicyAnnotation, berthv1alpha1.PolicyNone).
		Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "1", "cluster-resource.berth.dev/licence": "1"}).Obj()
	s.Fork()
	defer s.Revert()
	ledger := s.Ledger(t.Context(), func(bundle.Ref) *corev1.Pod { return sample })
	room := func(want int64, when string) {
		t.Helper()
		if got := ledger.Count(bundle.Ref{}, "beijing", 9); got != want || ledger.Err() != nil {
			t.Errorf("beijing takes %d copies %s, want %d: %v", got, when, want, ledger.Err())
		}
	}
	room(2, "at first")
	if held, _ := ledger.Hold(bundle.Ref{}, "beijing", 5); held != 0 {
		t.Errorf("%d copies are held in beijing, where no node is away", held)
	}
	held, release := ledger.Hold(bundle.Ref{}, "hangzhou", 5)
	if held != 2 || len(ledger.Reserved()) != 1 || !ledger.Reserved()[0].Away {
		t.Errorf("%d copies are held in hangzhou, want 2; reserved is %+v", held, ledger.Reserved())
	}
	room(1, "beside what is held for the node that is away")
	ledger.Reserve(bundle.Ref{}, "beijing", 1)
	room(0, "when the last unit is taken")
	release()
	room(1, "when nothing is held any more")
	if n := ledger.Count(bundle.Ref{}, "hangzhou", 9); n != 0 {
		t.Errorf("hangzhou takes %d copies while its node is away", n)
	}
}

// away returns a node that is not ready.
func away(site string, number int, capacity map[corev1.ResourceName]string) *corev1.Node {
	node := plugintest.MakeNode(site, number).Capacity(capacity).Obj()
	node.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute}}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}
	return node
}

// TestNodesThatAreAwayStayAway asks first for what is held on a node that is away, before anything
// else is known of it.
func TestNodesThatAreAwayStayAway(t *testing.T) {
	two := map[corev1.ResourceName]string{corev1.ResourceCPU: "2", corev1.ResourcePods: "9"}
	s := snapshot(t, plugintest.Site("beijing"), away("beijing", 0, two), plugintest.MakeNode("beijing", 1).Capacity(two).Obj())
	sample := plugintest.MakePod("sample").Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "1"}).Toleration(corev1.TaintNodeUnreachable).Obj()
	s.Fork()
	defer s.Revert()
	if held, err := s.FillAway(t.Context(), "beijing", sample, 5); err != nil || held.Copies != 2 {
		t.Fatalf("%d copies are held, want 2: %v", held.Copies, err)
	}
	if room, err := s.Room(t.Context(), "beijing", sample, 5); err != nil || room.Copies != 2 {
		t.Errorf("beijing takes %d copies, want the 2 of the node that is there: %v", room.Copies, err)
	}
}

// TestReleasedHoldsLeaveNoAnswerBehind asks again and again while copies are held and reserved,
// and holds are released before what was reserved after them. All nodes are in one Cluster.
func TestReleasedHoldsLeaveNoAnswerBehind(t *testing.T) {
	four := map[corev1.ResourceName]string{corev1.ResourceCPU: "4", corev1.ResourcePods: "9"}
	s := snapshot(t, plugintest.Site("beijing"), away("beijing", 0, four), away("beijing", 1, four),
		plugintest.MakeNode("beijing", 2).Capacity(four).Obj())
	sample := plugintest.MakePod("sample").Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "1"}).Obj()
	ledger := s.Ledger(t.Context(), func(bundle.Ref) *corev1.Pod { return sample })
	room := func(want int64, when string) {
		t.Helper()
		if got := ledger.Count(bundle.Ref{}, "beijing", 9); got != want || ledger.Err() != nil {
			t.Errorf("beijing takes %d copies %s, want %d: %v", got, when, want, ledger.Err())
		}
	}
	s.Fork()
	room(4, "at first")
	start := ledger.Mark()
	_, releaseFirst := ledger.Hold(bundle.Ref{}, "beijing", 3)
	_, releaseSecond := ledger.Hold(bundle.Ref{}, "beijing", 3)
	room(4, "beside what is held")
	between := ledger.Mark()
	ledger.Reserve(bundle.Ref{}, "beijing", 1)
	room(3, "beside a reservation")
	releaseFirst()
	room(3, "when the first hold is released")
	ledger.Reserve(bundle.Ref{}, "beijing", 2)
	room(1, "beside two reservations")
	releaseSecond()
	room(1, "when the second hold is released")
	ledger.Rollback(between)
	room(4, "without the reservations")
	ledger.Rollback(start)
	room(4, "as at first")
	s.Revert()
	if got, err := s.Room(t.Context(), "beijing", sample, 9); err != nil || got.Copies != 4 {
		t.Errorf("beijing takes %d copies in the end, want 4: %v", got.Copies, err)
	}
}

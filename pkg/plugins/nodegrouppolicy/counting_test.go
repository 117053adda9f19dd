// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy_test

import (
	"cmp"
	"slices"
	"strconv"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/plugintest"
)

func TestShrinkingBySeatLandsOnTheShares(t *testing.T) {
	d, rs := deployment("nginx", 10)
	s := newTwoSites(t, beijingHangzhou().Obj(), d, rs)
	pods := place(t, s, rs, 0, 10)

	// A ReplicaSet deletes the pods of the lowest deletion cost first, as long as they are equally
	// ready.
	cost := func(pod *corev1.Pod) int {
		n, err := strconv.Atoi(pod.Annotations[corev1.PodDeletionCost])
		if err != nil {
			t.Fatalf("deletion cost of %s: %v", pod.Name, err)
		}
		return n
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return -cmp.Compare(cost(a), cost(b)) })
	for n, want := range map[int]map[string]int{
		10: {"beijing": 4, "hangzhou": 6},
		7:  {"beijing": 3, "hangzhou": 4},
		5:  {"beijing": 2, "hangzhou": 3},
		4:  {"beijing": 2, "hangzhou": 2},
		1:  {"hangzhou": 1},
	} {
		if diff := gocmp.Diff(want, bySite(pods[:n])); diff != "" {
			t.Errorf("the %d pods that stay, by site (-want +got):\n%s", n, diff)
		}
	}
}

func TestGrowingMovesNobody(t *testing.T) {
	d, rs := deployment("nginx", 5)
	s := newTwoSites(t, beijingHangzhou().Obj(), d, rs)
	place(t, s, rs, 0, 5)
	plugintest.Update(s, d, func(d *appsv1.Deployment) { *d.Spec.Replicas = 10 })
	got := bySite(place(t, s, rs, 5, 11))
	if diff := gocmp.Diff(map[string]int{"beijing": 2, "hangzhou": 3}, got); diff != "" {
		t.Errorf("the new pods by site (-want +got):\n%s", diff)
	}
}

func TestRolloutCompletes(t *testing.T) {
	d, old := deployment("nginx", 5)
	s := newTwoSites(t, beijingHangzhou().Obj(), d, old)
	running := place(t, s, old, 0, 5)

	// maxSurge 1, maxUnavailable 0: a pod of the old revision goes only after one of the new
	// revision has come.
	next := plugintest.ReplicaSet(d, "v2")
	s.Add(next)
	var renewed []*corev1.Pod
	for i := range running {
		pod, attempt := s.Place(plugintest.MakePodOf(next, i).Obj())
		if pod == nil {
			t.Fatalf("pod %d of the new revision found no node, the rollout is stuck: %s", i, attempt.Why())
		}
		renewed = append(renewed, pod)
		s.Remove(running[i])
	}
	if diff := gocmp.Diff(map[string]int{"beijing": 2, "hangzhou": 3}, bySite(renewed)); diff != "" {
		t.Errorf("the new revision by site (-want +got):\n%s", diff)
	}
}

func TestWhatHoldsASeat(t *testing.T) {
	// The only replica runs in hangzhou. A second pod finds a node only if the first one does not
	// count there any more.
	tests := map[string]struct {
		change   func(s *plugintest.Scheduler, first *corev1.Pod)
		wantFree bool
	}{
		"a bound pod":        {change: func(*plugintest.Scheduler, *corev1.Pod) {}, wantFree: false},
		"no terminating pod": {change: func(s *plugintest.Scheduler, p *corev1.Pod) { s.Terminate(p) }, wantFree: true},
		"no succeeded pod": {
			change: func(s *plugintest.Scheduler, p *corev1.Pod) {
				plugintest.Update(s, p, func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })
			},
			wantFree: true,
		},
		"no failed pod": {
			change: func(s *plugintest.Scheduler, p *corev1.Pod) {
				plugintest.Update(s, p, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed })
			},
			wantFree: true,
		},
		"no deleted pod": {change: func(s *plugintest.Scheduler, p *corev1.Pod) { s.Remove(p) }, wantFree: true},
		"no pod that its controller has let go": {
			change: func(s *plugintest.Scheduler, p *corev1.Pod) {
				plugintest.Update(s, p, func(p *corev1.Pod) { p.OwnerReferences = nil })
			},
			wantFree: true,
		},
		"a pod that somebody else bound": {
			change: func(s *plugintest.Scheduler, p *corev1.Pod) {
				plugintest.Update(s, p, func(p *corev1.Pod) { p.Annotations = nil })
			},
			wantFree: false,
		},
		"a pod with the stamp of another pod": {
			change: func(s *plugintest.Scheduler, p *corev1.Pod) {
				plugintest.Update(s, p, func(p *corev1.Pod) { p.Annotations[berthv1alpha1.PlacedByAnnotation] = "other/node" })
			},
			wantFree: false,
		},
		"a pod whose node is gone": {
			change: func(s *plugintest.Scheduler, _ *corev1.Pod) {
				s.Remove(plugintest.MakeNode("hangzhou", 0).Obj())
				s.Add(plugintest.MakeNode("hangzhou", 1).Obj())
			},
			wantFree: false,
		},
		"no pod whose node is gone and that is deleted": {
			change: func(s *plugintest.Scheduler, p *corev1.Pod) {
				s.Remove(plugintest.MakeNode("hangzhou", 0).Obj())
				s.Add(plugintest.MakeNode("hangzhou", 1).Obj())
				s.Remove(p)
			},
			wantFree: true,
		},
		"no pod whose node has left the cluster": {
			change: func(s *plugintest.Scheduler, _ *corev1.Pod) {
				plugintest.Update(s, plugintest.MakeNode("hangzhou", 0).Obj(),
					func(n *corev1.Node) { n.Labels[plugintest.SiteLabel] = "elsewhere" })
				s.Add(plugintest.MakeNode("hangzhou", 1).Obj())
			},
			wantFree: true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d, rs := deployment("nginx", 1)
			s := plugintest.New(t, append(plugintest.Sites(1, "beijing", "hangzhou"), beijingHangzhou().Obj(), d, rs))
			first := s.MustPlace(plugintest.MakePodOf(rs, 0).Obj())
			tc.change(s, first)
			second, _ := s.Place(plugintest.MakePodOf(rs, 1).Obj())
			if gotFree := second != nil; gotFree != tc.wantFree {
				t.Errorf("the seat is free: %t, want %t", gotFree, tc.wantFree)
			}
		})
	}
}

func TestAssumedPodsCount(t *testing.T) {
	d, rs := deployment("nginx", 5)
	s := newTwoSites(t, beijingHangzhou().Obj(), d, rs)
	var assumed []*corev1.Pod
	var attempts []*plugintest.Attempt
	for i := range 5 {
		pod := plugintest.MakePodOf(rs, i).Obj()
		attempt := s.Try(pod)
		assumed, attempts = append(assumed, s.Assume(pod, attempt)), append(attempts, attempt)
	}
	if diff := gocmp.Diff(map[string]int{"beijing": 2, "hangzhou": 3}, bySite(assumed)); diff != "" {
		t.Errorf("assumed pods by site (-want +got):\n%s", diff)
	}

	// The binding of one of them fails: its seat goes to the next pod, and no other seat.
	s.Forget(assumed[1], attempts[1])
	lost := seatOf(t, s.Bind(assumed[0], attempts[0]))
	seats := []int32{lost}
	for i := 2; i < 5; i++ {
		seats = append(seats, seatOf(t, s.Bind(assumed[i], attempts[i])))
	}
	seats = append(seats, seatOf(t, s.MustPlace(plugintest.MakePodOf(rs, 5).Obj())))
	slices.Sort(seats)
	if diff := gocmp.Diff([]int32{0, 1, 2, 3, 4}, seats); diff != "" {
		t.Errorf("seats (-want +got):\n%s", diff)
	}
}

func TestReplacementTakesTheLowestFreeSeat(t *testing.T) {
	d, rs := deployment("nginx", 10)
	s := newTwoSites(t, beijingHangzhou().Obj(), d, rs)
	for i, pod := range place(t, s, rs, 0, 10) {
		seat := seatOf(t, pod)
		s.Remove(pod)
		replacement := s.MustPlace(plugintest.MakePodOf(rs, 10+i).Obj())
		if got := seatOf(t, replacement); got != seat {
			t.Errorf("the replacement of seat %d has seat %d", seat, got)
		}
	}
}

func TestPodBeyondTheShareIsToldWhy(t *testing.T) {
	d, rs := deployment("nginx", 5)
	s := newTwoSites(t, append(plugintest.Sites(3, "elsewhere"), beijingHangzhou().Obj(), d, rs)...)
	place(t, s, rs, 0, 5)
	pod, attempt := s.Place(plugintest.MakePodOf(rs, 5).Obj())
	if pod != nil {
		t.Fatalf("the sixth of five replicas runs on %s", pod.Spec.NodeName)
	}
	want := map[string]int{"node(s) in clusters that have their share of replicas": 4, "node(s) in no cluster of the policy": 3}
	if diff := gocmp.Diff(want, attempt.Reasons()); diff != "" {
		t.Errorf("nodes by reason (-want +got):\n%s", diff)
	}
	for _, node := range []string{"beijing-0", "hangzhou-0", "elsewhere-0"} {
		if got := attempt.Fit.Diagnosis.NodeToStatus.Get(node).Code(); got != fwk.UnschedulableAndUnresolvable {
			t.Errorf("%s is %v, as if evicting pods could help", node, got)
		}
	}
}

// seatOf returns the seat in the stamp of a pod.
func seatOf(t *testing.T, pod *corev1.Pod) int32 {
	t.Helper()
	given, stamped := stamp.Of(pod)
	if !stamped {
		t.Fatalf("pod %s carries no stamp", pod.Name)
	}
	return given.Seat
}

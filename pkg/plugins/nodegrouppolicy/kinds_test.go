// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy_test

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/plugintest"
)

func TestReplicasOfEachKind(t *testing.T) {
	job := plugintest.Job("nginx", 5, 20)
	lastOnes := plugintest.Job("nginx", 5, 20)
	lastOnes.Status.Succeeded = 18
	suspended := plugintest.Job("nginx", 5, 20)
	suspended.Spec.Suspend = ptr.To(true)
	alone := plugintest.ReplicaSet(plugintest.Deployment("nginx", 5), "v1")
	alone.OwnerReferences = nil
	unset := plugintest.ReplicationController("nginx", 0)
	unset.Spec.Replicas = nil
	rollout := plugintest.ReplicaSet(plugintest.Deployment("nginx", 5), "v1")
	rollout.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "argoproj.io/v1alpha1", Kind: "Rollout", Name: "nginx", UID: "rollout", Controller: ptr.To(true),
	}}
	full := map[string]int{"beijing": 2, "hangzhou": 3}
	tests := map[string]struct {
		owner metav1.Object
		kind  [2]string
		want  map[string]int
	}{
		"ReplicaSet without a Deployment":        {alone, [2]string{"apps/v1", "ReplicaSet"}, full},
		"ReplicaSet of another controller":       {rollout, [2]string{"argoproj.io/v1alpha1", "Rollout"}, full},
		"ReplicationController":                  {plugintest.ReplicationController("nginx", 5), [2]string{"v1", "ReplicationController"}, full},
		"ReplicationController without replicas": {unset, [2]string{"v1", "ReplicationController"}, map[string]int{"hangzhou": 1}},
		"Job":                                    {job, [2]string{"batch/v1", "Job"}, full},
		"Job with fewer completions left":        {lastOnes, [2]string{"batch/v1", "Job"}, map[string]int{"beijing": 1, "hangzhou": 1}},
		"suspended Job":                          {suspended, [2]string{"batch/v1", "Job"}, map[string]int{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			policy := plugintest.MakePolicy("web").Selects(tc.kind[0], tc.kind[1], "").Weight(2, "beijing").Weight(3, "hangzhou")
			s := newTwoSites(t, policy.Obj(), tc.owner.(runtime.Object))
			got := bySite(place(t, s, tc.owner, 0, 6))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("replicas by site (-want +got):\n%s", diff)
			}
		})
	}
}

// The seat order of 2:3 is hangzhou, beijing, hangzhou, beijing, hangzhou, and then again from the
// start.
var seatOwners = []string{"hangzhou", "beijing", "hangzhou", "beijing", "hangzhou"}

func TestOrdinalIsTheSeat(t *testing.T) {
	shifted := plugintest.StatefulSet("db", 5)
	shifted.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: 100}
	tests := map[string]struct {
		owner   metav1.Object
		kind    [2]string
		pod     func(owner metav1.Object, seat int) *corev1.Pod
		seats   []int
		wantNot []int
	}{
		"StatefulSet, in order": {
			owner: plugintest.StatefulSet("db", 5), kind: [2]string{"apps/v1", "StatefulSet"}, seats: []int{0, 1, 2, 3, 4},
			pod: func(owner metav1.Object, seat int) *corev1.Pod { return plugintest.MakePodOf(owner, seat).Obj() },
		},
		"StatefulSet, in parallel and out of order": {
			owner: plugintest.StatefulSet("db", 5), kind: [2]string{"apps/v1", "StatefulSet"}, seats: []int{4, 1, 3, 0, 2},
			pod: func(owner metav1.Object, seat int) *corev1.Pod { return plugintest.MakePodOf(owner, seat).Obj() },
		},
		"StatefulSet that starts at 100": {
			owner: shifted, kind: [2]string{"apps/v1", "StatefulSet"}, seats: []int{0, 1, 2, 3, 4},
			pod: func(owner metav1.Object, seat int) *corev1.Pod { return plugintest.MakePodOf(owner, 100+seat).Obj() },
		},
		"StatefulSet that is growing: ordinals beyond the replicas are seats too": {
			owner: plugintest.StatefulSet("db", 1), kind: [2]string{"apps/v1", "StatefulSet"}, seats: []int{1, 4},
			pod: func(owner metav1.Object, seat int) *corev1.Pod { return plugintest.MakePodOf(owner, seat).Obj() },
		},
		"Indexed Job with less parallelism than completions": {
			owner: plugintest.Job("train", 2, 5), kind: [2]string{"batch/v1", "Job"}, seats: []int{3, 4},
			pod: func(owner metav1.Object, seat int) *corev1.Pod {
				return plugintest.MakePodOf(owner, seat).Annotation(batchv1.JobCompletionIndexAnnotation, strconv.Itoa(seat)).Obj()
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			policy := plugintest.MakePolicy("web").Selects(tc.kind[0], tc.kind[1], "").Weight(2, "beijing").Weight(3, "hangzhou")
			s := newTwoSites(t, policy.Obj(), tc.owner.(runtime.Object))
			for _, seat := range tc.seats {
				pod := s.MustPlace(tc.pod(tc.owner, seat))
				if got := plugintest.SiteOf(pod.Spec.NodeName); got != seatOwners[seat] {
					t.Errorf("the pod of seat %d runs in %s, want %s", seat, got, seatOwners[seat])
				}
				if got := seatOf(t, pod); got != int32(seat) {
					t.Errorf("the pod of seat %d has seat %d", seat, got)
				}
			}
		})
	}
}

func TestOrdinalWaitsForItsCluster(t *testing.T) {
	set := plugintest.StatefulSet("db", 5)
	policy := plugintest.MakePolicy("web").Selects("apps/v1", "StatefulSet", "db").Weight(2, "beijing").Weight(3, "hangzhou")
	s := newTwoSites(t, policy.Obj(), set)
	for i := range 2 {
		node := plugintest.MakeNode("beijing", i).Obj()
		plugintest.Update(s, node, func(n *corev1.Node) { n.Spec.Unschedulable = true })
	}
	if pod := s.MustPlace(plugintest.MakePodOf(set, 0).Obj()); plugintest.SiteOf(pod.Spec.NodeName) != "hangzhou" {
		t.Errorf("pod 0 runs on %s, want hangzhou", pod.Spec.NodeName)
	}
	pod, attempt := s.Place(plugintest.MakePodOf(set, 1).Obj())
	if pod != nil {
		t.Fatalf("pod 1 runs on %s, though beijing, which holds its seat, is cordoned", pod.Spec.NodeName)
	}
	if got := attempt.Reasons()["node(s) in clusters that do not hold the seat of the pod"]; got != 2 {
		t.Errorf("%d nodes were rejected with %q, want the 2 of hangzhou", got, "node(s) in clusters that do not hold the seat of the pod")
	}
}

func TestOrdinalsBeyondEverySeatWait(t *testing.T) {
	set := plugintest.StatefulSet("db", 3)
	tests := map[string]struct {
		policy *plugintest.PolicyWrapper
		pod    int
	}{
		"beyond the max of every cluster": {
			policy: plugintest.MakePolicy("web").Selects("apps/v1", "StatefulSet", "").Weight(1, "beijing", "hangzhou").Bounds(0, 1),
			pod:    2,
		},
		"beyond what is planned at all": {
			policy: plugintest.MakePolicy("web").Selects("apps/v1", "StatefulSet", "").Weight(1, "beijing", "hangzhou"),
			pod:    2147483647,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newTwoSites(t, tc.policy.Obj(), set)
			if pod, _ := s.Place(plugintest.MakePodOf(set, tc.pod).Obj()); pod != nil {
				t.Errorf("the pod runs on %s", pod.Spec.NodeName)
			}
		})
	}
}

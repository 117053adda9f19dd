// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/plugintest"
)

// cloneSetPod is a pod of a kind that Berth does not read, so that nobody knows how many replicas
// there are to be.
func cloneSetPod(number int) *corev1.Pod {
	pod := plugintest.MakePod(fmt.Sprint("cache-", number)).Obj()
	pod.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "cache", UID: "cloneset", Controller: ptr.To(true),
	}}
	return pod
}

func cloneSetPolicy() *plugintest.PolicyWrapper {
	return plugintest.MakePolicy("caches").Selects("apps.kruise.io/v1alpha1", "CloneSet", "cache").
		Weight(2, "beijing").Weight(3, "hangzhou")
}

func barePod(number int) *corev1.Pod {
	return plugintest.MakePod(fmt.Sprint("task-", number)).Obj()
}

func barePodPolicy() *plugintest.PolicyWrapper {
	return plugintest.MakePolicy("tasks").Selects("v1", "Pod", "").Weight(2, "beijing").Weight(3, "hangzhou")
}

func TestPodsOfUnknownNumberComeByTurn(t *testing.T) {
	tests := map[string]struct {
		policy *plugintest.PolicyWrapper
		pod    func(number int) *corev1.Pod
	}{
		"owner of an unknown kind": {policy: cloneSetPolicy(), pod: cloneSetPod},
		"pods without an owner":    {policy: barePodPolicy(), pod: barePod},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newTwoSites(t, tc.policy.Obj())
			var got []string
			var seats []int32
			for i := range 5 {
				pod := s.MustPlace(tc.pod(i))
				got, seats = append(got, plugintest.SiteOf(pod.Spec.NodeName)), append(seats, seatOf(t, pod))
			}
			if diff := cmp.Diff(seatOwners, got); diff != "" {
				t.Errorf("sites in turn (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]int32{0, 1, 2, 3, 4}, seats); diff != "" {
				t.Errorf("seats in turn (-want +got):\n%s", diff)
			}
		})
	}
}

func TestByTurnAReplacementTakesTheLowestFreeSeat(t *testing.T) {
	s := newTwoSites(t, cloneSetPolicy().Obj())
	first := s.MustPlace(cloneSetPod(0))
	for i := 1; i < 5; i++ {
		s.MustPlace(cloneSetPod(i))
	}
	s.Remove(first)
	if got := seatOf(t, s.MustPlace(cloneSetPod(5))); got != 0 {
		t.Errorf("the replacement of seat 0 has seat %d", got)
	}
}

// full uses up the cpu of both nodes of a site.
func full(site string) func(*plugintest.Scheduler) {
	return func(s *plugintest.Scheduler) {
		for i := range 2 {
			s.Add(plugintest.MakePod(fmt.Sprint("hog-", i)).Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "32"}).
				Node(fmt.Sprintf("%s-%d", site, i)).Obj())
		}
	}
}

func cordoned(site string) func(*plugintest.Scheduler) {
	return func(s *plugintest.Scheduler) { cordon(s, site) }
}

func tainted(site, key string, effect corev1.TaintEffect) func(*plugintest.Scheduler) {
	return func(s *plugintest.Scheduler) {
		changeNodes(s, site, func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: key, Effect: effect}} })
	}
}

func TestByTurnTheNextClusterThatCanHostIsChosen(t *testing.T) {
	// hangzhou comes first, beijing second.
	oneCPU := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	tests := map[string]struct {
		world func(*plugintest.Scheduler)
		pod   func(*corev1.PodSpec)
		want  string
	}{
		"the first can":         {want: "hangzhou"},
		"the first is cordoned": {world: cordoned("hangzhou"), want: "beijing"},
		"the first is cordoned and the pod tolerates that": {
			world: cordoned("hangzhou"),
			pod: func(spec *corev1.PodSpec) {
				spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
			},
			want: "hangzhou",
		},
		"the first is tainted": {
			world: tainted("hangzhou", "broken", corev1.TaintEffectNoExecute), want: "beijing",
		},
		"a taint that only asks does not count": {
			world: tainted("hangzhou", "busy", corev1.TaintEffectPreferNoSchedule), want: "hangzhou",
		},
		"the first is full": {
			world: full("hangzhou"),
			pod:   func(spec *corev1.PodSpec) { spec.Containers[0].Resources.Requests = oneCPU },
			want:  "beijing",
		},
		"the first is full for what the pod asks for as a whole": {
			world: full("hangzhou"),
			pod:   func(spec *corev1.PodSpec) { spec.Resources = &corev1.ResourceRequirements{Requests: oneCPU} },
			want:  "beijing",
		},
		"the pod selects nodes of the second": {
			pod:  func(spec *corev1.PodSpec) { spec.NodeSelector = map[string]string{plugintest.SiteLabel: "beijing"} },
			want: "beijing",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newTwoSites(t, cloneSetPolicy().Obj())
			pod := cloneSetPod(0)
			if tc.world != nil {
				tc.world(s)
			}
			if tc.pod != nil {
				tc.pod(&pod.Spec)
			}
			if got := plugintest.SiteOf(s.MustPlace(pod).Spec.NodeName); got != tc.want {
				t.Errorf("the pod runs in %s, want %s", got, tc.want)
			}
		})
	}
}

// A host port is not among what is looked at when a cluster is chosen, so that the choice turns out
// to be wrong only later.
func TestByTurnAWrongChoiceIsTriedAgainElsewhere(t *testing.T) {
	s := newTwoSites(t, cloneSetPolicy().Obj())
	for i := range 2 {
		s.Add(plugintest.MakePod(fmt.Sprint("web-", i)).HostPort(80).Node(fmt.Sprint("hangzhou-", i)).Obj())
	}
	pod := plugintest.MakePod("cache-0").HostPort(80).Obj()
	pod.OwnerReferences = cloneSetPod(0).OwnerReferences

	first := s.Try(pod)
	if first.Node != "" {
		t.Fatalf("the pod found %s at once", first.Node)
	}
	if got := first.Reasons()["node(s) in clusters whose turn comes later"]; got != 2 {
		t.Errorf("%d nodes were rejected with %q, want the 2 of beijing", got, "node(s) in clusters whose turn comes later")
	}
	if got := first.PostFilter.Message(); got != "no cluster with a free place could take the pod, trying the others" {
		t.Errorf("PostFilter says %q, want %q", got, "no cluster with a free place could take the pod, trying the others")
	}
	if got := plugintest.SiteOf(s.MustPlace(pod).Spec.NodeName); got != "beijing" {
		t.Errorf("the pod runs in %s, want beijing", got)
	}
}

func TestByTurnAClusterAtItsMaxIsLeftOut(t *testing.T) {
	policy := plugintest.MakePolicy("caches").Selects("apps.kruise.io/v1alpha1", "CloneSet", "cache").
		Weight(1, "beijing", "hangzhou").Bounds(0, 1)
	s := newTwoSites(t, policy.Obj())
	got := bySite([]*corev1.Pod{s.MustPlace(cloneSetPod(0)), s.MustPlace(cloneSetPod(1))})
	if diff := cmp.Diff(map[string]int{"beijing": 1, "hangzhou": 1}, got); diff != "" {
		t.Errorf("pods by site (-want +got):\n%s", diff)
	}
	pod, attempt := s.Place(cloneSetPod(2))
	if pod != nil {
		t.Fatalf("a third pod runs on %s", pod.Spec.NodeName)
	}
	if got := attempt.Reasons()["node(s) in clusters that have their share of replicas"]; got != 4 {
		t.Errorf("%d nodes were rejected with %q, want all 4", got, "node(s) in clusters that have their share of replicas")
	}
}

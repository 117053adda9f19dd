// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugins/clusterresource"
	"berth.dev/berth/pkg/plugintest"
)

// hint asks the plugin whether an event of the resource should wake the pod.
func hint(s *plugintest.Scheduler, resource fwk.EventResource, pod *corev1.Pod, before, after any) bool {
	return s.Hint(clusterresource.Name, resource, pod, before, after) == fwk.Queue
}

// aged gives a pod an age, of which the queue makes an order.
func aged(pod *corev1.Pod, minutes int) *corev1.Pod {
	pod.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC).Add(-time.Duration(minutes) * time.Minute))
	return pod
}

func TestAReleaseWakesThoseItCanServe(t *testing.T) {
	for name, tc := range map[string]struct {
		released string
		waiting  []*corev1.Pod
		want     []string
	}{
		"the oldest": {
			released: "1", want: []string{"old"},
			waiting: []*corev1.Pod{aged(asking("young", "matlab", "1"), 1), aged(asking("old", "matlab", "1"), 9)},
		},
		"the highest priority": {
			released: "1", want: []string{"vip"},
			waiting: []*corev1.Pod{aged(asking("old", "matlab", "1"), 9), withPriority(aged(asking("vip", "matlab", "1"), 1), 1)},
		},
		"as many as fit": {
			released: "3", want: []string{"first", "second"},
			waiting: []*corev1.Pod{
				aged(asking("first", "matlab", "2"), 3), aged(asking("second", "matlab", "1"), 2), aged(asking("third", "matlab", "1"), 1),
			},
		},
		"a smaller one behind one that is too large": {
			released: "1", want: []string{"small"},
			waiting: []*corev1.Pod{aged(asking("large", "matlab", "3"), 9), aged(asking("small", "matlab", "1"), 1)},
		},
		"nobody who wants something else": {
			released: "1", want: []string{},
			waiting: []*corev1.Pod{asking("stranger", "maple", "1")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := plugintest.New(t, append(racks(), pools("matlab", berthv1alpha1.AnyOf, "all", "4"), pools("maple", berthv1alpha1.AnyOf, "all", "1")))
			placeAll(t, s, asking("rest", "matlab", "1"), asking("other", "maple", "1"))
			holder := s.MustPlace(asking("holder", "matlab", tc.released))
			if tc.released != "3" {
				s.MustPlace(asking("filler", "matlab", strconv.Itoa(3-int(tc.released[0]-'0'))))
			}
			for _, pod := range tc.waiting {
				if attempt := s.Try(pod); attempt.Node != "" {
					t.Fatalf("pod %s does not wait", pod.Name)
				}
			}
			got := []string{}
			for _, pod := range tc.waiting {
				if hint(s, fwk.Pod, pod, holder, nil) {
					got = append(got, pod.Name)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("woken pods (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTwoReleasesWakeTwoPods(t *testing.T) {
	s := plugintest.New(t, append(racks(), pools("matlab", berthv1alpha1.AnyOf, "all", "2")))
	one, two := s.MustPlace(asking("one", "matlab", "1")), s.MustPlace(asking("two", "matlab", "1"))
	first, second := aged(asking("first", "matlab", "1"), 9), aged(asking("second", "matlab", "1"), 1)
	s.Try(first)
	s.Try(second)
	got := []bool{
		hint(s, fwk.Pod, first, one, nil), hint(s, fwk.Pod, second, one, nil),
		hint(s, fwk.Pod, first, two, nil), hint(s, fwk.Pod, second, two, nil),
	}
	if diff := cmp.Diff([]bool{true, false, false, true}, got); diff != "" {
		t.Errorf("first by one, second by one, first by two, second by two (-want +got):\n%s", diff)
	}
	if !hint(s, fwk.Pod, first, one, nil) {
		t.Error("a release that is told again, as to a pod that was in a cycle meanwhile, forgets whom it serves")
	}
}

func TestAPodThatIsNotKnownToWaitIsWoken(t *testing.T) {
	s := plugintest.New(t, append(racks(), pools("matlab", berthv1alpha1.AnyOf, "all", "1")))
	holder := s.MustPlace(asking("holder", "matlab", "1"))
	if !hint(s, fwk.Pod, asking("in a cycle", "matlab", "1"), holder, nil) {
		t.Error("the release is lost for a pod whose attempt began before it")
	}
}

func TestHintsOfOtherEvents(t *testing.T) {
	waiting := asking("waiting", "disk", "1")
	more := asking("waiting", "disk", "2")
	s := plugintest.New(t, append(racks(), pools("disk", berthv1alpha1.AnyOf, "a", "0", "b", "0")))
	for name, tc := range map[string]struct {
		resource      fwk.EventResource
		before, after any
		want          bool
	}{
		"it asks for something else":     {fwk.Pod, waiting, more, true},
		"the scheduler notes its status": {fwk.Pod, waiting, waiting.DeepCopy(), false},
		"another pod changes":            {fwk.Pod, asking("other", "disk", "1"), asking("other", "disk", "2"), false},
		"a pod that holds nothing goes":  {fwk.Pod, onNode(asking("other"), "a1"), (*corev1.Pod)(nil), false},
		"a node in a pool comes":         {fwk.Node, nil, rackNode("a9", "a"), true},
		"a node in no pool comes":        {fwk.Node, nil, rackNode("z9", "z"), false},
		"a node joins a pool":            {fwk.Node, rackNode("z9", "z"), rackNode("z9", "b"), true},
		"a node changes otherwise":       {fwk.Node, rackNode("a1", "a"), rackNode("a1", "a"), false},
		"a node leaves its pool":         {fwk.Node, rackNode("a1", "a"), rackNode("a1", "z"), false},
	} {
		t.Run(name, func(t *testing.T) {
			after := tc.after
			if pod, ok := after.(*corev1.Pod); ok && pod == nil {
				after = nil
			}
			if got := hint(s, tc.resource, waiting, tc.before, after); got != tc.want {
				t.Errorf("woken: %t, want %t", got, tc.want)
			}
		})
	}
}

func onNode(pod *corev1.Pod, node string) *corev1.Pod {
	pod.Spec.NodeName = node
	return pod
}

func TestAReleaseServesPodsWhoseNodesDrawOnThePool(t *testing.T) {
	tests := map[string]func(pod *corev1.Pod, rack string) *corev1.Pod{
		"selected by a label": onRack,
		"selected by affinity": func(pod *corev1.Pod, rack string) *corev1.Pod {
			pod.Spec.Affinity = st.MakePod().NodeAffinityIn("rack", []string{rack}, st.NodeSelectorTypeMatchExpressions).Obj().Spec.Affinity
			return pod
		},
	}
	for name, on := range tests {
		t.Run(name, func(t *testing.T) {
			s := plugintest.New(t, append(racks(), pools("disk", berthv1alpha1.AnyOf, "a", "1", "b", "1")))
			s.MustPlace(onRack(asking("on a", "disk", "1"), "a"))
			holder := s.MustPlace(onRack(asking("on b", "disk", "1"), "b"))
			older, younger := on(aged(asking("older", "disk", "1"), 9), "a"), on(aged(asking("younger", "disk", "1"), 1), "b")
			s.Try(older)
			s.Try(younger)
			if hint(s, fwk.Pod, older, holder, nil) {
				t.Error("a pod is woken whose nodes do not draw on the pool")
			}
			if !hint(s, fwk.Pod, younger, holder, nil) {
				t.Error("the pod that the release can serve sleeps on")
			}
		})
	}
}

// Where there was enough for it something else is in the way, which a release does not change.
func TestAReleaseDoesNotServeAPodThatHadEnoughThere(t *testing.T) {
	for _, mode := range []berthv1alpha1.PoolMode{berthv1alpha1.AnyOf, berthv1alpha1.AllOf} {
		t.Run(string(mode), func(t *testing.T) {
			s := plugintest.New(t, append(racks(), pools("disk", mode, "a", "1", "b", "2")))
			onA := s.MustPlace(onRack(asking("on a", "disk", "1"), "a"))
			onB := s.MustPlace(onRack(withCPU(asking("on b", "disk", "1"), "4"), "b"))
			waits := withCPU(asking("waits", "disk", "1"), "1")
			if attempt := s.Try(waits); attempt.Node != "" {
				t.Fatalf("the pod finds node %s", attempt.Node)
			}
			if hint(s, fwk.Pod, waits, onB, nil) {
				t.Error("it is woken by the release of a pool that had enough for it")
			}
			if !hint(s, fwk.Pod, waits, onA, nil) {
				t.Error("it sleeps on when the pool has something that had not enough for it")
			}
		})
	}
}

func TestTheReleaseOfAPodThatSomebodyElseBoundWakes(t *testing.T) {
	foreign := onNode(asking("foreign", "matlab", "1"), "a1")
	s := plugintest.New(t, append(racks(), pools("matlab", berthv1alpha1.AnyOf, "all", "1"), foreign))
	first, second := aged(asking("first", "matlab", "1"), 9), aged(asking("second", "matlab", "1"), 1)
	s.Try(first)
	s.Try(second)
	got := []bool{hint(s, fwk.Pod, first, foreign, nil), hint(s, fwk.Pod, second, foreign, nil)}
	if diff := cmp.Diff([]bool{true, false}, got); diff != "" {
		t.Errorf("woken pods, the first and the second (-want +got):\n%s", diff)
	}
}

// A pod whose Binding has failed may be given to another scheduler, which binds it. What it gave
// back before is not free any longer, and a pod that was offered it would be tried without end.
func TestWhatAPodGaveBackIsNotFreeOnceSomebodyElseHasBoundIt(t *testing.T) {
	holder := stamped("holder", "a1", "matlab", "all")
	s := plugintest.New(t, append(racks(), pools("matlab", berthv1alpha1.AnyOf, "all", "2"), holder))
	moved := asking("moved", "matlab", "1")
	attempt := s.Try(moved)
	s.Forget(s.Assume(moved, attempt), attempt)
	s.Add(stamped("moved", "a1", "matlab", "all"))
	first, second := aged(asking("first", "matlab", "1"), 9), aged(asking("second", "matlab", "1"), 1)
	s.Try(first)
	s.Try(second)
	got := []bool{hint(s, fwk.Pod, first, holder, nil), hint(s, fwk.Pod, second, holder, nil)}
	if diff := cmp.Diff([]bool{true, false}, got); diff != "" {
		t.Errorf("woken pods, the first and the second (-want +got):\n%s", diff)
	}
}

// nominated is a pod that others have made way for on a node.
func nominated(pod *corev1.Pod, node string) *corev1.Pod {
	pod.Status.NominatedNodeName = node
	return pod
}

// Somebody may take the stamp away, and no scheduling cycle need begin before the pod is gone.
func TestTheReleaseOfAPodWhoseStampWasTakenAwayWakes(t *testing.T) {
	holder := stamped("holder", "a1", "matlab", "all")
	s := plugintest.New(t, append(racks(), pools("matlab", berthv1alpha1.AnyOf, "all", "1"), holder))
	first, second := aged(asking("first", "matlab", "1"), 9), aged(asking("second", "matlab", "1"), 1)
	s.Try(first)
	s.Try(second)
	edited := onNode(asking("holder", "matlab", "1"), "a1")
	got := []bool{hint(s, fwk.Pod, first, edited, nil), hint(s, fwk.Pod, second, edited, nil)}
	if diff := cmp.Diff([]bool{true, false}, got); diff != "" {
		t.Errorf("woken pods, the first and the second (-want +got):\n%s", diff)
	}
}

func TestTheEndOfANominationWakes(t *testing.T) {
	for name, tc := range map[string]struct {
		gone *corev1.Pod
		// waits is set if the pod was rejected by all nodes for want of what it asks for.
		waits bool
		want  bool
	}{
		"a pod that may have been rejected for it": {gone: nominated(asking("gone", "disk", "1"), "a1"), want: true},
		"not one that waits for a release":         {gone: nominated(asking("gone", "disk", "1"), "a1"), waits: true},
		"not if it was not nominated":              {gone: asking("gone", "disk", "1")},
		"not if it asks for something else":        {gone: nominated(asking("gone", "maple", "1"), "a1")},
		"not if what it asks for cannot be read":   {gone: nominated(asking("gone", "disk", "many"), "a1")},
	} {
		t.Run(name, func(t *testing.T) {
			s := plugintest.New(t, append(racks(), pools("disk", berthv1alpha1.AnyOf, "a", "1")))
			pod := asking("pod", "disk", "1")
			if tc.waits {
				s.MustPlace(asking("holder", "disk", "1"))
				s.Try(pod)
			}
			if got := hint(s, fwk.Pod, pod, tc.gone, nil); got != tc.want {
				t.Errorf("woken: %t, want %t", got, tc.want)
			}
		})
	}
}

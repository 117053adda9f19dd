// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	fwk "k8s.io/kube-scheduler/framework"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugintest"
)

// onRack confines a pod to the nodes of a rack.
func onRack(pod *corev1.Pod, rack string) *corev1.Pod {
	pod.Spec.NodeSelector = map[string]string{"rack": rack}
	return pod
}

// withCPU lets a pod ask for processors.
func withCPU(pod *corev1.Pod, cpu string) *corev1.Pod {
	pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: mustParse(cpu)},
	}}}
	return pod
}

// placeAll places pods and makes them known to the API server. It waits until the scheduler has
// heard of that, which otherwise could undo a later change.
func placeAll(t *testing.T, s *plugintest.Scheduler, pods ...*corev1.Pod) []*corev1.Pod {
	t.Helper()
	bound := make([]*corev1.Pod, len(pods))
	for i, pod := range pods {
		bound[i] = s.MustPlace(pod)
		known := bound[i].DeepCopy()
		known.ResourceVersion = "known"
		if err := s.Kube.Tracker().Add(known); err != nil {
			t.Fatal(err)
		}
		s.WaitFor("the pod to be heard of", func() bool {
			cached, err := s.Cache.GetPod(known)
			return err == nil && cached.ResourceVersion == known.ResourceVersion
		})
		bound[i] = known
	}
	return bound
}

// deleted returns the names of the pods that the plugin has deleted, once it has done so for the
// pod.
func deleted(s *plugintest.Scheduler, pod *corev1.Pod) []string {
	s.WaitFor("the victims to be deleted", func() bool { return s.PreEnqueue(pod).IsSuccess() })
	names := []string{}
	for _, action := range s.Kube.Actions() {
		if del, ok := action.(interface{ GetName() string }); ok && action.Matches("delete", "pods") {
			names = append(names, del.GetName())
		}
	}
	slices.Sort(names)
	return names
}

func TestHoldersOnOtherNodesMakeWay(t *testing.T) {
	for name, tc := range map[string]struct {
		resources []runtime.Object
		holders   []*corev1.Pod
		preemptor *corev1.Pod
		want      []string
		wantCode  fwk.Code
	}{
		"the lowest priority, on another node": {
			resources: []runtime.Object{pools("matlab", berthv1alpha1.AnyOf, "all", "2")},
			holders: []*corev1.Pod{
				onRack(withPriority(asking("low", "matlab", "1"), 1), "b"), onRack(withPriority(asking("mid", "matlab", "1"), 5), "b"),
			},
			preemptor: onRack(withPriority(asking("high", "matlab", "1"), 10), "a"), want: []string{"low"}, wantCode: fwk.Success,
		},
		"one large holder rather than two small ones": {
			resources: []runtime.Object{pools("matlab", berthv1alpha1.AnyOf, "all", "4")},
			holders: []*corev1.Pod{
				withPriority(asking("one", "matlab", "1"), 1), withPriority(asking("two", "matlab", "1"), 1), withPriority(asking("large", "matlab", "2"), 2),
			},
			preemptor: withPriority(asking("high", "matlab", "2"), 10), want: []string{"large"}, wantCode: fwk.Success,
		},
		"nobody of the same priority": {
			resources: []runtime.Object{pools("matlab", berthv1alpha1.AnyOf, "all", "1")},
			holders:   []*corev1.Pod{withPriority(asking("same", "matlab", "1"), 10)},
			preemptor: withPriority(asking("high", "matlab", "1"), 10), want: []string{}, wantCode: fwk.UnschedulableAndUnresolvable,
		},
		"nobody if all of them would not do": {
			resources: []runtime.Object{pools("matlab", berthv1alpha1.AnyOf, "all", "3")},
			holders:   []*corev1.Pod{withPriority(asking("same", "matlab", "2"), 10), withPriority(asking("low", "matlab", "1"), 1)},
			preemptor: withPriority(asking("high", "matlab", "2"), 10), want: []string{}, wantCode: fwk.UnschedulableAndUnresolvable,
		},
		"nobody of another pool": {
			resources: []runtime.Object{pools("disk", berthv1alpha1.AnyOf, "a", "1", "b", "1")},
			holders: []*corev1.Pod{
				onRack(withPriority(asking("there", "disk", "1"), 1), "b"), onRack(withPriority(asking("here", "disk", "1"), 5), "a"),
			},
			preemptor: onRack(withPriority(asking("high", "disk", "1"), 10), "a"), want: []string{"here"}, wantCode: fwk.Success,
		},
		"on the only node on which it helps": {
			resources: []runtime.Object{pools("disk", berthv1alpha1.AnyOf, "a", "1", "b", "1")},
			holders:   []*corev1.Pod{onRack(withPriority(asking("low", "disk", "1"), 1), "b")},
			preemptor: onRack(withPriority(asking("high", "disk", "1"), 10), "b"), want: []string{"low"}, wantCode: fwk.Success,
		},
		"who is in the way on the node, and who holds elsewhere": {
			resources: []runtime.Object{pools("matlab", berthv1alpha1.AnyOf, "all", "1")},
			holders: []*corev1.Pod{
				onRack(withCPU(withPriority(asking("busy"), 1), "3"), "b"), onRack(withPriority(asking("holder", "matlab", "1"), 1), "a"),
			},
			preemptor: onRack(withCPU(withPriority(asking("high", "matlab", "1"), 10), "3"), "b"),
			want:      []string{"busy", "holder"}, wantCode: fwk.Success,
		},
		"two resources at once": {
			resources: []runtime.Object{pools("matlab", berthv1alpha1.AnyOf, "all", "1"), pools("maple", berthv1alpha1.AnyOf, "all", "1")},
			holders: []*corev1.Pod{
				withPriority(asking("matlab", "matlab", "1"), 1), withPriority(asking("maple", "maple", "1"), 1),
			},
			preemptor: withPriority(asking("high", "matlab", "1", "maple", "1"), 10), want: []string{"maple", "matlab"}, wantCode: fwk.Success,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := plugintest.New(t, append(racks(), tc.resources...))
			placeAll(t, s, tc.holders...)
			attempt := s.Try(tc.preemptor)
			if attempt.Node != "" || attempt.PostFilter.Code() != tc.wantCode {
				t.Fatalf("node %q, PostFilter says %v", attempt.Node, attempt.PostFilter)
			}
			if diff := cmp.Diff(tc.want, deleted(s, tc.preemptor)); diff != "" {
				t.Errorf("deleted pods (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAPodThatMustNotPreemptDoesNot(t *testing.T) {
	s := plugintest.New(t, append(racks(), pools("matlab", berthv1alpha1.AnyOf, "all", "1")))
	placeAll(t, s, withPriority(asking("low", "matlab", "1"), 1))
	never := corev1.PreemptNever
	meek := withPriority(asking("meek", "matlab", "1"), 10)
	meek.Spec.PreemptionPolicy = &never
	if attempt := s.Try(meek); attempt.PostFilter.IsSuccess() || len(deleted(s, meek)) > 0 {
		t.Errorf("PostFilter says %v and deleted %v", attempt.PostFilter, deleted(s, meek))
	}
}

func TestABudgetProtectsItsPods(t *testing.T) {
	s := plugintest.New(t, append(racks(), pools("matlab", berthv1alpha1.AnyOf, "all", "2")))
	guarded := withPriority(asking("guarded", "matlab", "1"), 1)
	guarded.Labels = map[string]string{"app": "db"}
	placeAll(t, s, guarded, withPriority(asking("plain", "matlab", "1"), 5))
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "db"},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}},
	}
	if err := s.Informers.Policy().V1().PodDisruptionBudgets().Informer().GetIndexer().Add(budget); err != nil {
		t.Fatal(err)
	}
	high := withPriority(asking("high", "matlab", "1"), 10)
	s.Try(high)
	if diff := cmp.Diff([]string{"plain"}, deleted(s, high)); diff != "" {
		t.Errorf("deleted pods (-want +got):\n%s", diff)
	}
}

func TestAPodThatWaitsForItsVictimsTakesNobodyElseAndLosesNothing(t *testing.T) {
	s := plugintest.New(t, append(racks(), pools("matlab", berthv1alpha1.AnyOf, "all", "2")))
	holders := placeAll(t, s, withPriority(asking("low", "matlab", "1"), 1), withPriority(asking("other", "matlab", "1"), 10))
	// Pods take their time to end.
	s.Kube.PrependReactor("delete", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, nil })
	high := withPriority(asking("high", "matlab", "1"), 10)
	s.Try(high)
	if diff := cmp.Diff([]string{"low"}, deleted(s, high)); diff != "" {
		t.Fatalf("deleted pods (-want +got):\n%s", diff)
	}
	// It is told why before it is deleted. That news must not come after what the test says of it.
	s.WaitFor("the victim to be told why", func() bool {
		known, err := s.Cache.GetPod(holders[0])
		return err == nil && len(known.Status.Conditions) > 0
	})
	victim := s.Terminate(holders[0])
	if attempt := s.Try(high); attempt.PostFilter.Code() != fwk.UnschedulableAndUnresolvable {
		t.Errorf("while its victim is terminating PostFilter says %v", attempt.PostFilter)
	}
	s.Remove(victim)
	for _, priority := range []int32{1, 10} {
		thief := withPriority(asking("thief", "matlab", "1"), priority)
		if attempt := s.Try(thief); attempt.Node != "" {
			t.Errorf("a pod of priority %d gets what was freed for another one", priority)
		}
		s.Remove(thief)
	}
	s.MustPlace(high)
	if got := deleted(s, high); len(got) != 1 {
		t.Errorf("deleted pods: %v", got)
	}
}

func TestNobodyIsKilledWhenWaitingSuffices(t *testing.T) {
	s := plugintest.New(t, append(racks(), pools("matlab", berthv1alpha1.AnyOf, "all", "2")))
	holders := placeAll(t, s, withPriority(asking("leaving", "matlab", "1"), 20), withPriority(asking("low", "matlab", "1"), 1))
	s.Terminate(holders[0])
	high := withPriority(asking("high", "matlab", "1"), 10)
	if attempt := s.Try(high); attempt.PostFilter.Code() != fwk.UnschedulableAndUnresolvable || len(deleted(s, high)) > 0 {
		t.Errorf("PostFilter says %v and deleted %v", attempt.PostFilter, deleted(s, high))
	}
}

func TestWhatIsOnItsWayBackIsKeptFromPodsOfLowerPriority(t *testing.T) {
	s := plugintest.New(t, append(racks(), pools("matlab", berthv1alpha1.AnyOf, "all", "1")))
	leaving := s.Terminate(s.MustPlace(withPriority(asking("leaving", "matlab", "1"), 1)))
	high := withPriority(asking("high", "matlab", "1"), 10)
	s.Try(high)
	s.Remove(leaving)
	low := withPriority(asking("low", "matlab", "1"), 9)
	if attempt := s.Try(low); attempt.Node != "" {
		t.Error("a pod of lower priority takes what one of higher priority waits for")
	}
	equal := withPriority(asking("equal", "matlab", "1"), 10)
	if attempt := s.Try(equal); attempt.Node == "" {
		t.Error("it is kept from a pod of the same priority, whoever comes first")
	}
	s.MustPlace(high)
}

func TestAPreemptorThatIsTriedAgainAtOnceKillsNobodyElse(t *testing.T) {
	s := plugintest.New(t, append(racks(), pools("matlab", berthv1alpha1.AnyOf, "all", "2")))
	placeAll(t, s, withPriority(asking("low", "matlab", "1"), 1), withPriority(asking("other", "matlab", "1"), 2))
	// The API server has accepted the deletion, and the scheduler has not heard of it.
	s.Kube.PrependReactor("delete", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, nil })
	high := withPriority(asking("high", "matlab", "1"), 10)
	s.Try(high)
	deleted(s, high)
	s.Try(high)
	if diff := cmp.Diff([]string{"low"}, deleted(s, high)); diff != "" {
		t.Errorf("deleted pods (-want +got):\n%s", diff)
	}
}

// A pod whose node is gone holds what it was charged, and nothing else can be taken from it.
func TestAHolderOnANodeThatIsGoneMakesWay(t *testing.T) {
	lost := rackNode("lost", "a")
	holder := withPriority(stamped("holder", "lost", "matlab", "all"), 1)
	s := plugintest.New(t, append(racks(), lost, pools("matlab", berthv1alpha1.AnyOf, "all", "1"), holder))
	s.Try(asking("warm", "matlab", "1")) // the view has seen the node before it goes
	s.Remove(lost)
	high := withPriority(asking("high", "matlab", "1"), 10)
	if attempt := s.Try(high); !attempt.PostFilter.IsSuccess() {
		t.Fatalf("PostFilter says %v", attempt.PostFilter)
	}
	s.WaitFor("the holder to be deleted", func() bool { return s.PreEnqueue(high).IsSuccess() })
	patched := slices.ContainsFunc(s.Kube.Actions(), func(action clienttesting.Action) bool {
		return action.Matches("patch", "pods/status") || action.Matches("patch", "pods")
	})
	if !patched {
		t.Error("the holder is not told to make way")
	}
}

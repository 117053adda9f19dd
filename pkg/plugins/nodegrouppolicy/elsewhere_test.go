// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy_test

import (
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/plugintest"
)

// restampedByOthers places all replicas of a Deployment but one, and returns what tells the
// informer that the policy controller has given a seat to one of those that run.
func restampedByOthers(t *testing.T) (s *plugintest.Scheduler, last *corev1.Pod, restamp func(seat stamp.Stamp)) {
	t.Helper()
	d, rs := deployment("nginx", 5)
	s = newTwoSites(t, d, rs, beijingHangzhou().Obj())
	running := place(t, s, rs, 0, 4)
	other := running[0].DeepCopy()
	pods := s.Kube.CoreV1().Pods(other.Namespace)
	if _, err := pods.Create(t.Context(), other, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return s, plugintest.MakePodOf(rs, 4).Obj(), func(given stamp.Stamp) {
		t.Helper()
		maps.Copy(other.Annotations, given.Annotations(other, other.Spec.NodeName))
		if _, err := pods.Update(t.Context(), other, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		s.WaitFor("the new stamp", func() bool {
			known, err := s.Informers.Core().V1().Pods().Lister().Pods(other.Namespace).Get(other.Name)
			is, _ := stamp.Of(known)
			return err == nil && is == given
		})
	}
}

// seatGiven returns the seat that an attempt would get.
func seatGiven(s *plugintest.Scheduler, pod *corev1.Pod, attempt *plugintest.Attempt) stamp.Stamp {
	assumed := s.Assume(pod, attempt)
	stamped := assumed.DeepCopy()
	stamped.Annotations = s.State.Annotations(assumed, attempt.Node)
	given, _ := stamp.Of(stamped)
	return given
}

// After a watch that was away for a while the informer hands over what it has listed one pod after
// the other: a waiting pod may be tried before the stamps that others have changed meanwhile.
func TestASeatThatIsGivenToAnotherPodDuringTheCycleIsNotReserved(t *testing.T) {
	s, last, restamp := restampedByOthers(t)
	attempt := s.Try(last)
	seat := seatGiven(s, last, attempt)
	assumed := last.DeepCopy()
	assumed.Spec.NodeName = attempt.Node
	s.Forget(assumed, attempt)

	restamp(seat)
	status := s.Framework.RunReservePluginsReserve(t.Context(), attempt.State, assumed, attempt.Node)
	if status.Code() != fwk.Error || !strings.Contains(status.Message(), "another pod has just been given the seat") {
		t.Errorf("got %v, want an error: the seat is another pod's", status)
	}
}

// Whoever is offered it would be refused it as well, and offer it to the next one, without end.
func TestASeatThatIsNotReservedIsOfferedToNobody(t *testing.T) {
	s, last, restamp := restampedByOthers(t)
	other := func(name, node string) *corev1.Pod {
		pod := last.DeepCopy()
		pod.Name, pod.UID, pod.Spec.NodeName = name, types.UID(name), node
		return pod
	}
	attempt := s.Try(last)
	assumed := s.Assume(last, attempt)
	waiting := []*corev1.Pod{other("waits", ""), other("waits behind", "")}
	for _, pod := range waiting {
		if node := s.Try(pod).Node; node != "" {
			t.Fatalf("pod %s finds node %s, it is to wait", pod.Name, node)
		}
	}
	stamped := assumed.DeepCopy()
	stamped.Annotations = s.State.Annotations(assumed, attempt.Node)
	seat, _ := stamp.Of(stamped)
	s.Forget(assumed, attempt) // which is offered to the first one

	late := s.Try(other("late", ""))
	restamp(seat)
	refused := other("late", late.Node)
	if status := s.Framework.RunReservePluginsReserve(t.Context(), late.State, refused, late.Node); status.Code() != fwk.Error {
		t.Fatalf("got %v, want an error: the seat is another pod's", status)
	}
	s.Framework.RunReservePluginsUnreserve(t.Context(), late.State, refused, late.Node)
	if hint(t, s, fwk.Pod, waiting[1], other("gone", attempt.Node), nil) != fwk.Queue {
		t.Error("the second pod that waits is not offered the place of one that goes: it was offered the seat")
	}
}

func TestAPodIsNotBoundToASeatThatAnotherOneWasGivenMeanwhile(t *testing.T) {
	s, last, restamp := restampedByOthers(t)
	attempt := s.Try(last)
	seat := seatGiven(s, last, attempt)
	assumed := last.DeepCopy()
	assumed.Spec.NodeName = attempt.Node

	restamp(seat)
	status := s.Framework.RunBindPlugins(t.Context(), attempt.State, assumed, attempt.Node)
	if status.Code() != fwk.Error || !strings.Contains(status.Message(), "another pod has been given its seat") {
		t.Errorf("got %v, want an error: the seat is another pod's", status)
	}
}

func TestOtherSeatsThatOthersGiveDoNotMatter(t *testing.T) {
	s, last, restamp := restampedByOthers(t)
	attempt := s.Try(last)
	assumed := s.Assume(last, attempt)
	restamp(stamp.Stamp{Policy: "web", Cluster: "beijing", Seat: 99})
	s.Bind(assumed, attempt)
}

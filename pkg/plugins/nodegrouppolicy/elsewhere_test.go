// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy_test

import (
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

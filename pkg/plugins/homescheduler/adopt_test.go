// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package homescheduler_test

import (
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugintest"
)

// foreign is a pod that another scheduler has bound to a node of the cluster "other", and that the
// snapshot lacks.
func foreign(number int) *corev1.Pod {
	p := pod(number, "b")
	p.Spec.NodeName = "other-0"
	return p
}

// comes makes the cluster "other" come to scheduler a, and returns a pod that can run only there.
func comes(t *testing.T, s *plugintest.Scheduler) *corev1.Pod {
	t.Helper()
	change(t, s, "other", func(c *berthv1alpha1.ClusterStatus) { c.HomeScheduler, c.HomeRevision = "a", 2 })
	p := pod(9, "a")
	p.Spec.NodeSelector = map[string]string{plugintest.SiteLabel: "other"}
	return p
}

// answer lets the API server answer requests for pods.
func answer(s *plugintest.Scheduler, verb string, how func(clienttesting.Action) (runtime.Object, error)) *atomic.Int64 {
	asked := &atomic.Int64{}
	s.Kube.PrependReactor(verb, "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		asked.Add(1)
		object, err := how(action)
		return true, object, err
	})
	return asked
}

func listing(pods ...*corev1.Pod) *corev1.PodList {
	list := &corev1.PodList{}
	for _, p := range pods {
		list.Items = append(list.Items, *p)
	}
	return list
}

// What another scheduler bound counts before anything is placed beside it.
func TestAClusterIsTakenUpOnlyWithAllItsPods(t *testing.T) {
	s := plugintest.New(t, world(), plugintest.Named("a"))
	place(t, s, pod(0, "a"))
	unseen := foreign(1)
	answer(s, "list", func(clienttesting.Action) (runtime.Object, error) { return listing(unseen), nil })
	asked := answer(s, "get", func(clienttesting.Action) (runtime.Object, error) { return unseen, nil })
	p := comes(t, s)
	s.WaitFor("it to be asked for the pod twice", func() bool {
		if node := s.Try(p).Node; node != "" {
			t.Fatalf("the pod goes to %s beside a pod that is not known yet", node)
		}
		return asked.Load() > 1
	})
	s.Add(unseen)
	s.WaitFor("a node", func() bool { return s.Try(p).Node != "" })
}

// Pods come and go while they are read.
func TestAPodThatHasGoneIsNotWaitedFor(t *testing.T) {
	finished := foreign(1)
	finished.Status.Phase = corev1.PodSucceeded
	another := foreign(1)
	another.UID = "another"
	tests := map[string]func(clienttesting.Action) (runtime.Object, error){
		"deleted": func(clienttesting.Action) (runtime.Object, error) {
			return nil, apierrors.NewNotFound(corev1.Resource("pods"), "it")
		},
		"finished":  func(clienttesting.Action) (runtime.Object, error) { return finished, nil },
		"made anew": func(clienttesting.Action) (runtime.Object, error) { return another, nil },
	}
	for name, got := range tests {
		t.Run(name, func(t *testing.T) {
			s := plugintest.New(t, world(), plugintest.Named("a"))
			place(t, s, pod(0, "a"))
			answer(s, "list", func(clienttesting.Action) (runtime.Object, error) { return listing(foreign(1)), nil })
			before := podLists(s)
			answer(s, "get", got)
			p := comes(t, s)
			s.WaitFor("a node", func() bool { return s.Try(p).Node != "" })
			if lists := podLists(s) - before; lists != 1 {
				t.Errorf("all pods were read %d times, want once", lists)
			}
		})
	}
}

func TestPodsAreReadAgainAfterAFailure(t *testing.T) {
	s := plugintest.New(t, world(), plugintest.Named("a"))
	place(t, s, pod(0, "a"))
	unreachable := fail(s, "list", "pods")
	p := comes(t, s)
	s.WaitFor("an attempt", func() bool { return unreachable.count() > 0 })
	if node := s.Try(p).Node; node != "" {
		t.Fatalf("the pod goes to %s, of which nothing is known", node)
	}
	unreachable.end()
	s.WaitFor("a node", func() bool { return s.Try(p).Node != "" })
}

// The API server forgets a state of the pods before all of them have been read.
func TestALongReadingGoesOnWithTheStateAsItIs(t *testing.T) {
	s := plugintest.New(t, world(), plugintest.Named("a"))
	place(t, s, pod(0, "a"))
	first, last := foreign(1), foreign(2)
	answer(s, "get", func(action clienttesting.Action) (runtime.Object, error) {
		if get, ok := action.(clienttesting.GetAction); ok && get.GetName() == first.Name {
			return first, nil
		}
		return last, nil
	})
	answer(s, "list", func(action clienttesting.Action) (runtime.Object, error) {
		options, ok := action.(clienttesting.ListActionImpl)
		switch {
		case !ok || options.ListOptions.Continue == "":
			page := listing(first)
			page.Continue = "consistent"
			return page, nil
		case options.ListOptions.Continue == "consistent":
			expired := apierrors.NewResourceExpired("too old")
			expired.ErrStatus.Continue = "whatever"
			return nil, expired
		default:
			return listing(last), nil
		}
	})
	p := comes(t, s)
	waits := func() bool { return s.Try(p).Node == "" }
	s.WaitFor("it to be read", func() bool { return podLists(s) >= 3 && waits() })
	s.Add(first)
	if !waits() {
		t.Fatal("the pods of the last page are not waited for")
	}
	s.Add(last)
	s.WaitFor("a node", func() bool { return !waits() })
}

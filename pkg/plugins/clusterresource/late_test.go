// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource_test

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugintest"
)

// takeOver is a scheduler that has taken over from another one.
type takeOver struct {
	*plugintest.Scheduler

	// reachable is false as long as pods cannot be changed, and changes counts the attempts.
	reachable atomic.Bool
	changes   atomic.Int32
	// bound is what a pod is found to be once it can be changed.
	bound *corev1.Pod
}

// takesOver lists the pods as the API server shows them at the take-over, in the version 7.
func takesOver(t *testing.T, objects []runtime.Object, listed ...*corev1.Pod) *takeOver {
	t.Helper()
	answers := make(chan struct{})
	close(answers)
	return takesOverOnce(t, answers, objects, listed...)
}

// takesOverOnce is takesOver with an API server that answers changes of pods once the channel is
// closed.
func takesOverOnce(t *testing.T, answers <-chan struct{}, objects []runtime.Object, listed ...*corev1.Pod) *takeOver {
	t.Helper()
	s := &takeOver{Scheduler: plugintest.New(t, append(racks(), objects...), plugintest.Held())}
	list := &corev1.PodList{}
	for _, pod := range listed {
		pod = pod.DeepCopy()
		pod.ResourceVersion = "7"
		list.Items = append(list.Items, *pod)
	}
	s.Kube.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, list, nil
	})
	s.Kube.PrependReactor("get", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		get, ok := action.(clienttesting.GetAction)
		if !ok || s.bound == nil || get.GetName() != s.bound.Name {
			return false, nil, nil
		}
		return true, s.bound, nil
	})
	s.Kube.PrependReactor("patch", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		s.changes.Add(1)
		<-answers
		switch patch, ok := action.(clienttesting.PatchAction); {
		case !s.reachable.Load():
			return true, nil, apierrors.NewServiceUnavailable("the API server is down")
		case ok && s.bound != nil && patch.GetName() == s.bound.Name:
			return true, s.bound, nil
		}
		return true, asking("unbound"), nil
	})
	s.Release()
	return s
}

func matlab(quantity string) []runtime.Object {
	return []runtime.Object{
		pools("matlab", berthv1alpha1.AnyOf, "all", quantity), pools("disk", berthv1alpha1.AnyOf, "all", "1"),
	}
}

// many returns pods that ask for a unit each.
func many(n int) []*corev1.Pod {
	pods := make([]*corev1.Pod, n)
	for i := range pods {
		pods[i] = asking("theirs-"+strconv.Itoa(i), "matlab", "1")
	}
	return pods
}

func TestAUnitThatALateBindingMayTakeIsWithheld(t *testing.T) {
	s := takesOver(t, matlab("1"), asking("theirs", "matlab", "1"))
	next := asking("next", "matlab", "1")
	s.WaitFor("attempts to make the binding impossible", func() bool { return s.changes.Load() > 1 })
	if attempt := s.Try(next); attempt.Node != "" {
		t.Fatal("the unit is given out while a late binding may take it")
	}
	s.reachable.Store(true)
	s.WaitFor("the unit", func() bool { return s.Try(next).Node != "" })
}

func TestWhatALateBindingHasTakenCounts(t *testing.T) {
	s := takesOver(t, matlab("1"), asking("theirs", "matlab", "1", "disk", "1"))
	s.bound = stamped("theirs", "a1", "matlab", "all")
	s.reachable.Store(true)
	// It had asked for a disk as well, which its stamp does not have. That is free once the pod is
	// settled.
	s.WaitFor("the disk", func() bool { return s.Try(asking("disk", "disk", "1")).Node != "" })
	if attempt := s.Try(asking("next", "matlab", "1")); attempt.Node != "" {
		t.Error("a unit is given out that a late binding has taken")
	}
	if again := s.Try(asking("theirs", "matlab", "1")); again.Node != "" {
		t.Error("a pod is placed that a late binding has bound")
	}
}

func TestWhatNoLateBindingCanTakeIsGivenOutAtOnce(t *testing.T) {
	t.Run("more than is asked for", func(t *testing.T) {
		s := takesOver(t, matlab("2"), asking("theirs", "matlab", "1"))
		s.MustPlace(asking("next", "matlab", "1"))
		if attempt := s.Try(asking("last", "matlab", "1")); attempt.Node != "" {
			t.Error("the unit is given out while a late binding may take it")
		}
	})
	t.Run("to the pod that a late binding may bind", func(t *testing.T) {
		takesOver(t, matlab("1"), asking("theirs", "matlab", "1")).MustPlace(asking("theirs", "matlab", "1"))
	})
	t.Run("what becomes free in a pool that was full", func(t *testing.T) {
		holder := stamped("holder", "a1", "matlab", "all")
		s := takesOver(t, append(matlab("1"), holder), holder, asking("theirs", "matlab", "1"))
		if attempt := s.Try(asking("next", "matlab", "1")); attempt.Node != "" {
			t.Error("a unit is given out that is held")
		}
		s.Remove(holder)
		s.MustPlace(asking("next", "matlab", "1"))
		if n := s.changes.Load(); n > 0 {
			t.Errorf("%d attempts to change pods", n)
		}
	})
	t.Run("however many wait for a pool that was full", func(t *testing.T) {
		holder := stamped("holder", "a1", "matlab", "all")
		s := takesOver(t, append(matlab("1"), holder), slices.Concat(many(10_000), []*corev1.Pod{holder})...)
		s.Remove(holder)
		s.MustPlace(asking("next", "matlab", "1"))
		if n := s.changes.Load(); n > 0 {
			t.Errorf("%d attempts to change pods", n)
		}
	})
	t.Run("however many wait for a pool that has enough for all", func(t *testing.T) {
		takesOver(t, matlab("10001"), many(10_000)...).MustPlace(asking("next", "matlab", "1"))
	})
	t.Run("what a pod waited for that has changed since", func(t *testing.T) {
		s := takesOver(t, matlab("1"), asking("theirs", "matlab", "1"))
		changed := asking("theirs", "matlab", "1")
		changed.ResourceVersion = "8"
		s.Add(changed)
		s.WaitFor("the unit", func() bool { return s.Try(asking("next", "matlab", "1")).Node != "" })
	})
	t.Run("what a pod waited for that is not found", func(t *testing.T) {
		s := takesOver(t, matlab("1"), asking("theirs", "matlab", "1"))
		s.Kube.PrependReactor("get", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
			get, ok := action.(clienttesting.GetAction)
			if !ok || s.bound == nil || get.GetName() != s.bound.Name {
				return false, nil, nil
			}
			return true, s.bound, nil
		})
		s.Kube.PrependReactor("patch", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewNotFound(corev1.Resource("pods"), "theirs")
		})
		s.WaitFor("the unit", func() bool { return s.Try(asking("next", "matlab", "1")).Node != "" })
	})
	t.Run("what a pod waited for that is deleted", func(t *testing.T) {
		theirs := asking("theirs", "matlab", "1")
		s := takesOver(t, matlab("1"), theirs)
		pods := corev1.SchemeGroupVersion.WithResource("pods")
		if err := errors.Join(s.Kube.Tracker().Add(theirs), s.Kube.Tracker().Delete(pods, theirs.Namespace, theirs.Name)); err != nil {
			t.Fatal(err)
		}
		s.WaitFor("the unit", func() bool { return s.Try(asking("next", "matlab", "1")).Node != "" })
	})
}

// Each attempt in vain writes to the pod. So while the process before may have bound pods to all
// that is free only those of other pools are tried, until that is settled, fails or takes too long.
func TestNobodyIsTriedInVainWhileAllIsBeingSettled(t *testing.T) {
	for name, tc := range map[string]struct {
		answers, reachable, wantPlaced bool
	}{
		"until it is settled":       {answers: true, reachable: true, wantPlaced: true},
		"until that fails":          {answers: true},
		"until that takes too long": {},
	} {
		t.Run(name, func(t *testing.T) {
			began, answers := time.Now(), make(chan struct{})
			answer := sync.OnceFunc(func() { close(answers) })
			s := takesOverOnce(t, answers, matlab("1"), many(2)...)
			t.Cleanup(answer)
			s.reachable.Store(tc.reachable)
			next := asking("next", "matlab", "1")
			// A machine that stalls for as long as pods are held at most proves nothing.
			if s.PreEnqueue(next).IsSuccess() && time.Since(began) < 2*time.Second {
				t.Error("a pod is tried in vain")
			}
			if !s.PreEnqueue(asking("other", "disk", "1")).IsSuccess() {
				t.Error("a pod is held though nobody may have what it asks for")
			}
			if tc.answers {
				answer()
			}
			s.WaitFor("the pod to be let into the queue", func() bool { return s.PreEnqueue(next).IsSuccess() })
			if !tc.wantPlaced {
				if attempt := s.Try(next); attempt.Node != "" {
					t.Error("the unit is given out while a late binding may take it")
				}
				return
			}
			s.WaitFor("the unit", func() bool { return s.Try(next).Node != "" })
		})
	}
}

func TestNobodyIsEvictedForWhatIsWithheld(t *testing.T) {
	holder := withPriority(stamped("holder", "a1", "matlab", "all"), 1)
	s := takesOver(t, append(matlab("2"), holder), holder, asking("theirs", "matlab", "1"))
	attempt := s.Try(withPriority(asking("next", "matlab", "1"), 1000))
	if attempt.Node != "" || attempt.Nominated != "" {
		t.Errorf("the pod found node %q, nominated %q", attempt.Node, attempt.Nominated)
	}
}

// Who had others make way in the process before is nominated still, and gets what they give back,
// wherever somebody else could use it.
func TestWhatIsFreedForANominatedPodIsKeptAfterATakeOver(t *testing.T) {
	holder := withPriority(stamped("holder", "a1", "matlab", "all"), 1)
	preemptor := nominated(withPriority(asking("preemptor", "matlab", "1"), 10), "a1")
	s := takesOver(t, append(matlab("1"), holder, preemptor), holder, preemptor)
	s.Remove(holder)
	for name, priority := range map[string]int32{"lower": 9, "equal": 10} {
		if attempt := s.Try(onRack(withPriority(asking(name, "matlab", "1"), priority), "b")); attempt.Node != "" {
			t.Errorf("a pod of priority %d gets on node %s what was freed for another one", priority, attempt.Node)
		}
	}
	s.MustPlace(preemptor)
}

// Only so much is kept for a pod as it asks for.
func TestNoMoreIsKeptForANominatedPodThanItAsksFor(t *testing.T) {
	preemptor := nominated(withPriority(asking("preemptor", "matlab", "1"), 10), "a1")
	s := takesOver(t, append(matlab("3"), preemptor))
	s.WaitFor("the rest for another one", func() bool { return s.Try(onRack(asking("small", "matlab", "2"), "b")).Node != "" })
	if attempt := s.Try(onRack(asking("large", "matlab", "3"), "b")); attempt.Node != "" {
		t.Error("another pod gets what is kept")
	}
}

// The unit is free, and the node is full. What a pod cannot use is not kept for it.
func TestHowLongAUnitIsKeptForAPodWhoseNodeIsFull(t *testing.T) {
	tests := map[string]struct {
		// priority is that of the pod in its way, and ends is set if that terminates; moved is set if it
		// does so on another node.
		priority    int32
		ends, moved bool
		want        bool
	}{
		"while a pod of lower priority makes way":  {priority: 9, ends: true, want: true},
		"not while one of lower priority runs on":  {priority: 9},
		"not while one of its own priority ends":   {priority: 10, ends: true},
		"not while a pod makes way on another one": {priority: 9, ends: true, moved: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			victim := onNode(withCPU(withPriority(asking("victim"), tc.priority), "3"), "b1")
			preemptor := nominated(withCPU(withPriority(asking("preemptor", "matlab", "1"), 10), "3"), "b1")
			if tc.moved {
				preemptor = nominated(preemptor, "a1")
			}
			objects := append(matlab("1"), victim, preemptor, onNode(withCPU(withPriority(asking("full"), 100), "4"), "a1"),
				onNode(withCPU(withPriority(asking("full too"), 100), "4"), "a2"))
			s := takesOver(t, objects)
			if tc.ends {
				s.Terminate(victim)
			}
			if attempt := s.Try(preemptor); attempt.Node != "" || attempt.PostFilter == nil {
				t.Fatalf("it finds node %q", attempt.Node)
			}
			other := onRack(asking("other", "matlab", "1"), "a")
			if kept := s.Try(other).Node == ""; kept != tc.want {
				t.Errorf("it is kept: %t, want %t", kept, tc.want)
			}
		})
	}
}

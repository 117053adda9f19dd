// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package waitlist_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// runs starts what wakes pods, whose clock stands still, and returns the names of those woken.
func (u *units) runs(t *testing.T, held ...string) <-chan []string {
	t.Helper()
	woken := make(chan []string, 10)
	go u.Run(t.Context(), u.clock, func(pods []*corev1.Pod) { woken <- namesOf(pods) }, func(pod *corev1.Pod) bool {
		return slices.Contains(held, pod.Name)
	})
	return woken
}

func expectWoken(t *testing.T, woken <-chan []string, want ...string) {
	t.Helper()
	select {
	case got := <-woken:
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("woken pods (-want +got):\n%s", diff)
		}
	case <-time.After(time.Minute):
		t.Error("nobody is woken")
	}
}

func TestPodsAreWokenAtOnceWhenUnitsAreReleased(t *testing.T) {
	u := newUnits(t, "")
	u.reject(newPod("first", 1), needs(1, "a"))
	woken := u.runs(t)
	u.Released("holder", of("a", "1"))
	expectWoken(t, woken, "first")
}

func TestWhoIsKeptOutOfTheQueueIsNotWoken(t *testing.T) {
	u := newUnits(t, "")
	u.reject(newPod("first", 1), needs(1, "a"))
	u.reject(newPod("second", 2), needs(1, "a"))
	woken := u.runs(t, "first")
	u.Released("holder", of("a", "1"))
	expectWoken(t, woken, "second")
}

// What a cycle has found free for others is offered when that cycle ends, however it does.
func TestWhatACycleFindsFreeIsOfferedWhenItEnds(t *testing.T) {
	for name, end := range map[string]func(*units){
		"its pod is served": func(u *units) { u.Served("somebody", u.seen) },
		"its pod is rejected for something else": func(u *units) {
			u.Rejected(newPod("somebody", 9), needs(1, "b"), true, u.seen)
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUnits(t, "")
			u.reject(newPod("first", 1), needs(1, "a"))
			u.observe(1, 0)
			if got := u.names(); len(got) > 0 {
				t.Errorf("%v are woken before the cycle ends", got)
			}
			end(u)
			if diff := cmp.Diff([]string{"first"}, u.names()); diff != "" {
				t.Errorf("woken pods (-want +got):\n%s", diff)
			}
		})
	}
}

// What others had is no reason to try a pod in vain for a pool of which they had nothing.
func TestNobodyIsTriedAgainForAPoolOfWhichOthersHadNothing(t *testing.T) {
	u := newUnits(t, "")
	u.observeAll([]int64{1, 0}, []int64{1, 5})
	first := newPod("first", 1)
	u.Served("first", u.seen)
	u.reject(first, needs(1, "a"))
	if woken := namesOf(u.Lifted([]*corev1.Pod{first})); len(woken) > 0 {
		t.Errorf("%v are woken though nothing of pool a has become free", woken)
	}
}

func TestWhoHasGoneIsNotWoken(t *testing.T) {
	b := newBench(newPod("first", 1), newPod("second", 2))
	b.Unplaced(newPod("holder", 0), web)
	b.Drop("first")
	b.wake()
	if diff := cmp.Diff([]string{"second"}, b.woken); diff != "" {
		t.Errorf("woken pods (-want +got):\n%s", diff)
	}
}

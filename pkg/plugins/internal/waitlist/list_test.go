// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package waitlist_test

import (
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/plugins/internal/waitlist"
)

var web = workload.Revision{Owner: "web"}

// newPod returns a pod; the later it was made the higher its number.
func newPod(name string, number int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, UID: types.UID(name), CreationTimestamp: metav1.Unix(int64(number), 0),
	}}
}

func withPriority(pod *corev1.Pod, priority int32) *corev1.Pod {
	pod.Spec.Priority = ptr.To(priority)
	return pod
}

// newClock returns a clock that stands still until a test moves it.
func newClock() *clocktesting.FakeClock {
	return clocktesting.NewFakeClock(time.Unix(0, 0))
}

// bench is a list with pods that wait in the line web. Those that are held are kept out of the
// queue.
type bench struct {
	*waitlist.List
	held    []string
	clock   *clocktesting.FakeClock
	waiting []*corev1.Pod
	woken   []string
}

func newBench(pods ...*corev1.Pod) *bench {
	b := &bench{clock: newClock(), waiting: pods}
	b.List = waitlist.New(b.clock)
	for _, pod := range pods {
		b.Rejected(pod, web, nil)
		b.Ended(pod.UID)
	}
	return b
}

// wake notes who is to be woken, but for those that others have been told of.
func (b *bench) wake(told ...string) {
	for chosen := b.Chosen(); len(chosen) > 0; chosen = b.Chosen() {
		for _, pod := range chosen {
			switch {
			case slices.Contains(b.held, pod.Name):
				b.Held(pod.UID)
			case !slices.Contains(told, pod.Name):
				b.woken = append(b.woken, pod.Name)
			}
		}
	}
}

// free tells all pods that wait of a place, and notes whom it wakes. The queue asks those that are
// held nothing.
func (b *bench) free(freed *corev1.Pod) {
	b.wake()
	var told []string
	for _, pod := range b.waiting {
		if !slices.Contains(b.held, pod.Name) && b.WokenBy(pod, freed, web) {
			told = append(told, pod.Name)
		}
	}
	b.woken = append(b.woken, told...)
	b.wake(told...)
}

// sees makes a cycle that saw every place and leaves some free.
func sees(free int) waitlist.See {
	return func(*corev1.Pod) waitlist.Sight { return waitlist.Sight{Seen: true, Free: free} }
}

// blind is a cycle that began before the place became free.
func blind(*corev1.Pod) waitlist.Sight { return waitlist.Sight{} }

func TestWhoIsWoken(t *testing.T) {
	holder, another := newPod("holder", 0), newPod("another", 0)
	first, second, third := newPod("first", 1), newPod("second", 2), newPod("third", 3)
	for name, tc := range map[string]struct {
		do   func(b *bench)
		want []string
	}{
		"the oldest":                {func(b *bench) { b.free(holder) }, []string{"first"}},
		"one for each place":        {func(b *bench) { b.free(holder); b.free(another) }, []string{"first", "second"}},
		"the same, told once more":  {func(b *bench) { b.free(holder); b.free(holder) }, []string{"first", "first"}},
		"the higher priority first": {func(b *bench) { b.add(withPriority(newPod("vip", 9), 1)); b.free(holder) }, []string{"vip"}},
		"the next, if the first changes the line": {func(b *bench) {
			b.free(holder)
			b.Rejected(first, workload.Revision{Owner: "other"}, sees(0))
		}, []string{"first", "second"}},
		"who is not in the list too": {func(b *bench) { b.waiting = append(b.waiting, newPod("new", 9)); b.free(holder) }, []string{"first", "new"}},
		"who waits in another line too": {func(b *bench) {
			b.Rejected(second, workload.Revision{Owner: "other"}, nil)
			b.free(holder)
		}, []string{"first", "second"}},
		"nobody for a place that was taken": {func(b *bench) {
			b.free(holder)
			b.Placed("first", sees(0))
		}, []string{"first"}},
		"nobody for a place that somebody else took": {func(b *bench) {
			b.free(holder)
			b.Rejected(first, web, sees(0))
		}, []string{"first"}},
		"the next, if the first has no use for the place": {func(b *bench) {
			b.free(holder)
			b.Rejected(first, web, sees(1))
			b.Rejected(second, web, sees(1))
			b.Rejected(third, web, sees(1))
		}, []string{"first", "second", "third"}},
		"the next at once, if the first is kept out of the queue": {func(b *bench) {
			b.held = []string{"first"}
			b.free(holder)
		}, []string{"second"}},
		"the last at once, if all others are kept out of the queue": {func(b *bench) {
			b.held = []string{"first", "second"}
			b.free(holder)
		}, []string{"third"}},
		"who is kept out no longer for the next place": {func(b *bench) {
			b.held = []string{"first"}
			b.free(holder)
			b.held = nil
			b.free(another)
		}, []string{"second", "first"}},
		"the next at once, if the attempt of the first fails elsewhere": {func(b *bench) {
			b.free(holder)
			b.Ended("first")
		}, []string{"first", "second"}},
		"nobody else, if the first was rejected before the place was free": {func(b *bench) {
			b.free(holder)
			b.Rejected(first, web, blind)
			b.Ended("first")
		}, []string{"first"}},
		"the next, if the first fails elsewhere in the attempt after that": {func(b *bench) {
			b.free(holder)
			b.Rejected(first, web, blind)
			b.Ended("first")
			b.Ended("first")
		}, []string{"first", "second"}},
		"nobody else, if the first is about to be tried on more nodes": {func(b *bench) {
			b.free(holder)
			b.Again("first")
			b.Ended("first")
		}, []string{"first"}},
		"the next, if the first fails elsewhere on more nodes, too": {func(b *bench) {
			b.free(holder)
			b.Again("first")
			b.Ended("first")
			b.Ended("first")
		}, []string{"first", "second"}},
		"nobody, if an attempt ends that nobody was woken for": {func(b *bench) {
			b.Ended("first")
			b.Ended("nobody")
		}, nil},
		"the next, if the first goes": {func(b *bench) { b.free(holder); b.Drop("first") }, []string{"first", "second"}},
		"the next, if the first took another place": {func(b *bench) {
			b.free(holder)
			b.Placed("first", sees(1))
		}, []string{"first", "second"}},
		"nobody more, if others are on their way to the places that are left": {func(b *bench) {
			b.free(holder)
			b.free(another)
			b.Placed("first", sees(1))
		}, []string{"first", "second"}},
		"the next, if the first took a place before that one was free": {func(b *bench) {
			b.free(holder)
			b.Placed("first", blind)
		}, []string{"first", "second"}},
		"the first again, if it was rejected before the place was free": {func(b *bench) {
			b.free(holder)
			b.Rejected(first, web, blind)
			b.free(holder)
		}, []string{"first", "first"}},
		"the next, if the first could not be bound": {func(b *bench) {
			b.free(holder)
			b.Placed("first", sees(0))
			b.Unplaced(first, web)
		}, []string{"first", "second"}},
		"the next, if somebody else binds the first elsewhere": {func(b *bench) {
			b.free(holder)
			b.Placed("first", sees(0))
			b.Drop("first")
			b.Unplaced(first, web)
		}, []string{"first", "second"}},
		"the next, if one who was not woken loses a place": {func(b *bench) {
			b.Placed("first", sees(3))
			b.Unplaced(first, web)
		}, []string{"second"}},
		"one only, if the queue hears of a place that was lost": {func(b *bench) {
			b.Placed("first", sees(3))
			b.Unplaced(first, web)
			b.waiting = []*corev1.Pod{second, third}
			b.free(first)
		}, []string{"second", "second"}},
		"the next, if the first is not tried in time": {func(b *bench) {
			b.free(holder)
			b.passOnAfter(waitlist.OfferTimeout / 2)
			b.passOnAfter(waitlist.OfferTimeout / 2)
			b.free(another)
		}, []string{"first", "first", "second", "third"}},
		"who was not tried in time after all others": {func(b *bench) {
			b.free(holder)
			b.passOnAfter(waitlist.OfferTimeout)
			b.free(another)
			b.free(newPod("a third one", 0))
		}, []string{"first", "first", "second", "third", "first"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(third, first, second)
			tc.do(b)
			b.wake()
			if diff := cmp.Diff(tc.want, b.woken); diff != "" {
				t.Errorf("woken pods (-want +got):\n%s", diff)
			}
		})
	}
}

// All pods are in a scheduling cycle when a place becomes free.
func TestWhoIsWokenOfThoseThatDidNotWaitYet(t *testing.T) {
	holder, first, second, third := newPod("holder", 0), newPod("first", 1), newPod("second", 2), newPod("third", 3)
	for name, tc := range map[string]struct {
		do   func(b *bench)
		want []string
	}{
		"if the queue tells of the place once more": {func(b *bench) {
			b.free(holder) // all are in a cycle
			b.woken = nil
			b.Rejected(second, web, blind)
			b.Rejected(third, web, blind)
			b.waiting = []*corev1.Pod{second, third}
			b.free(holder)
		}, []string{"second", "second"}},
		"after another one has seen the place": {func(b *bench) {
			b.Unplaced(holder, web)
			b.Rejected(second, web, sees(1))
			b.Rejected(third, web, blind)
			b.waiting = []*corev1.Pod{third, second}
			b.free(holder)
		}, []string{"third"}},
		"when more places became free than are remembered": {func(b *bench) {
			for n := range 2000 {
				b.Unplaced(newPod(strconv.Itoa(n), 0), web)
			}
			b.Rejected(third, web, blind)
		}, []string{"third"}},
		"if the queue is told nothing": {func(b *bench) {
			b.Unplaced(holder, web)
			b.Rejected(third, web, blind)
			b.Rejected(second, web, sees(1))
		}, []string{"third"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(third, first, second)
			for _, pod := range b.waiting {
				b.Drop(pod.UID)
			}
			b.wake()
			b.woken = nil
			tc.do(b)
			b.wake()
			if diff := cmp.Diff(tc.want, b.woken); diff != "" {
				t.Errorf("woken pods (-want +got):\n%s", diff)
			}
		})
	}
}

// passOnAfter lets time pass before places that nobody took are passed on.
func (b *bench) passOnAfter(pause time.Duration) {
	b.clock.Step(pause)
	b.Lapse()
	b.wake()
}

func (b *bench) add(pod *corev1.Pod) {
	b.Rejected(pod, web, nil)
	b.waiting = append(b.waiting, pod)
}

func TestRunPassesOn(t *testing.T) {
	woken := make(chan []string, 1)
	fake := newClock()
	l := waitlist.New(fake)
	first, second := newPod("first", 1), newPod("second", 2)
	l.Rejected(first, web, nil)
	l.Rejected(second, web, nil)
	if !l.WokenBy(first, newPod("holder", 0), web) {
		t.Fatal("the first pod sleeps on")
	}
	l.Chosen()
	wake := func(pods []*corev1.Pod) { woken <- []string{pods[0].Name, pods[len(pods)-1].Name} }
	go l.Run(t.Context(), wake, func(*corev1.Pod) bool { return false })
	for !fake.HasWaiters() {
		runtime.Gosched()
	}
	fake.Step(waitlist.OfferTimeout)
	select {
	case got := <-woken:
		if diff := cmp.Diff([]string{"first", "second"}, got); diff != "" {
			t.Errorf("woken pods (-want +got):\n%s", diff)
		}
	case <-time.After(time.Minute):
		t.Error("nobody is woken instead of a pod that is not tried")
	}
}

// If several pods have not been heard of, the first of them has the first choice of what the others
// pass on, whatever the order in which they are found.
func TestPlacesThatNobodyTookArePassedOnInOrder(t *testing.T) {
	for range 20 {
		first, second, third := newPod("first", 1), newPod("second", 2), newPod("third", 3)
		holder, another := newPod("holder", 0), newPod("another", 0)
		b := newBench(first, second, third)
		b.free(holder)
		b.free(another)
		b.passOnAfter(waitlist.OfferTimeout)
		if b.WokenBy(second, holder, web) || b.WokenBy(second, another, web) || !b.WokenBy(first, another, web) {
			t.Fatal("the second pod has a place that the first or the third could have")
		}
	}
}

func TestRecentForgetsTheOldest(t *testing.T) {
	var r waitlist.Recent[int]
	events := make([]*corev1.Pod, 600)
	for i := range events {
		events[i] = newPod("holder", i)
		r.Put(events[i], i)
	}
	if _, found := r.Get(events[0]); found {
		t.Error("an old event is remembered, so memory grows with every event")
	}
	if got, found := r.Get(events[599]); got != 599 || !found {
		t.Errorf("of the latest event %d, %t is remembered", got, found)
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package waitlist_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/internal/waitlist"
)

// names are those of the pods that are to be woken now.
func (u *units) names() []string {
	return namesOf(u.Chosen())
}

// TestWhoIsTriedNext frees a unit of pool a while three pods wait for it, and asks after each step
// who is woken.
func TestWhoIsTriedNext(t *testing.T) {
	first, second, third := newPod("first", 1), newPod("second", 2), newPod("third", 3)
	one := needs(1, "a")
	for name, tc := range map[string]struct {
		steps []func(u *units)
		want  [][]string
	}{
		"the next, at once, when one was tried in vain": {
			[]func(*units){
				func(u *units) { u.try(first, one, 1, 0) }, func(u *units) { u.try(second, one, 1, 0) },
				func(u *units) { u.try(third, one, 1, 0) },
			},
			[][]string{{"second"}, {"third"}, {}},
		},
		"the next, when one was rejected elsewhere": {
			[]func(*units){func(u *units) { u.Ended("first") }, func(u *units) { u.Ended("second") }},
			[][]string{{"second"}, {"third"}},
		},
		"the next, when one found enough and was rejected elsewhere": {
			[]func(*units){func(u *units) { u.observe(1, 0); u.Served("first", u.seen) }, func(u *units) { u.Ended("first") }},
			[][]string{{}, {"second"}},
		},
		"the next, when one is kept out of the queue": {
			[]func(*units){func(u *units) { u.Held("first") }}, [][]string{{"second"}},
		},
		"the next, when one is gone": {
			[]func(*units){func(u *units) { u.Drop("first") }}, [][]string{{"second"}},
		},
		"the next, when one went while it was tried": {
			[]func(*units){func(u *units) { u.gone["first"] = true; u.Drop("first"); u.try(first, one, 1, 0) }}, [][]string{{"second"}},
		},
		"the next, when nothing is heard of one": {
			[]func(*units){
				func(u *units) { u.clock.Step(waitlist.OfferTimeout - 1); u.Lapse() },
				func(u *units) { u.clock.Step(1); u.Lapse() },
			},
			[][]string{{}, {"second"}},
		},
		"nobody, when one got it": {
			[]func(*units){func(u *units) { u.observe(1, 0); u.Reserved("first", of("a", "1")) }}, [][]string{{}},
		},
		"the next, when one got something else": {
			[]func(*units){func(u *units) { u.observe(1, 1); u.Reserved("first", of("b", "1")) }}, [][]string{{"second"}},
		},
		"the next, when the one that got it gives it back": {
			[]func(*units){func(u *units) {
				u.observe(1, 0)
				u.Reserved("first", of("a", "1"))
				u.Returned(first, of("a", "1"))
			}},
			[][]string{{"second"}},
		},
		"the same again, when the attempt had begun before": {
			[]func(*units){func(u *units) { u.holding["holder"] = true; u.try(first, one, 0, 0) }}, [][]string{{"first"}},
		},
		"all again, when another unit is free": {
			[]func(*units){
				func(u *units) { u.Ended("first") }, func(u *units) { u.Ended("second") }, func(u *units) { u.Ended("third") },
				func(u *units) { u.Gone(newPod("another", 0), of("a", "1")) },
			},
			[][]string{{"second"}, {"third"}, {}, {"first", "second"}},
		},
		"the same, when it is tried on more nodes": {
			[]func(*units){
				func(u *units) { u.observe(1, 0); u.Served("first", u.seen); u.Again("first"); u.Ended("first") },
				func(u *units) { u.Ended("first") },
			},
			[][]string{{}, {"second"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUnits(t, "")
			for _, pod := range []*corev1.Pod{third, first, second} {
				u.reject(pod, one)
			}
			u.Gone(newPod("holder", 0), of("a", "1"))
			got := [][]string{u.names()}
			for _, step := range tc.steps {
				step(u)
				got = append(got, u.names())
			}
			if diff := cmp.Diff(append([][]string{{"first"}}, tc.want...), got); diff != "" {
				t.Errorf("woken pods, step by step (-want +got):\n%s", diff)
			}
		})
	}
}

// A pod that gives back what it got is offered something again after one second, two, four and so
// on, up to thirty. The others are not held up.
func TestAPodThatGaveBackWhatItGotPauses(t *testing.T) {
	u := newUnits(t, "")
	first, second := newPod("first", 1), newPod("second", 2)
	var pauses []time.Duration
	for range 7 {
		u.observe(1, 0)
		u.Reserved("first", of("a", "1"))
		u.try(second, needs(1, "a"), 0, 0)
		u.Returned(first, of("a", "1"))
		u.try(first, needs(1, "a"), 0, 0)
		u.Gone(newPod("holder", 0), of("a", "1"))
		if diff := cmp.Diff([]string{"second"}, u.names()); diff != "" {
			t.Fatalf("woken pods (-want +got):\n%s", diff)
		}
		u.Drop("second")
		began := u.clock.Now()
		for woken := u.names(); len(woken) == 0; woken = u.names() {
			u.clock.Step(time.Second)
			u.Lapse()
		}
		pauses = append(pauses, u.clock.Since(began)/time.Second)
	}
	if diff := cmp.Diff([]time.Duration{1, 2, 4, 8, 16, 30, 30}, pauses); diff != "" {
		t.Errorf("seconds until it is tried again (-want +got):\n%s", diff)
	}
}

func TestPodsThatChargeAllPoolsOfANodeAreWokenWhenAllHaveEnough(t *testing.T) {
	u := newUnits(t, berthv1alpha1.AllOf)
	u.reject(newPod("both", 1), needs(1, "a", "b"))
	u.Gone(newPod("one", 0), of("a", "1"))
	got := [][]string{u.names()}
	u.Gone(newPod("two", 0), of("b", "1"))
	got = append(got, u.names())
	if diff := cmp.Diff([][]string{{}, {"both"}}, got); diff != "" {
		t.Errorf("woken by one pool, by both (-want +got):\n%s", diff)
	}
}

func TestWhatIsKeptForOnePodIsOfferedWhenItIsKeptNoLonger(t *testing.T) {
	u := newUnits(t, "")
	u.marks["preemptor"] = of("a", "1")
	u.reject(newPod("first", 1), needs(1, "a"))
	u.reject(withPriority(newPod("vip", 2), 1), needs(1, "a"))
	u.Gone(newPod("holder", 0), of("a", "1"))
	got := [][]string{u.names()}
	u.reject(withPriority(newPod("vip", 2), 1), needs(1, "b"))
	got = append(got, u.names())
	delete(u.marks, "preemptor")
	u.Lapse()
	got = append(got, u.names())
	if diff := cmp.Diff([][]string{{"vip"}, {}, {"first"}}, got); diff != "" {
		t.Errorf("woken while it is kept, after the higher priority, once it is kept no longer (-want +got):\n%s", diff)
	}
}

func TestHugeClaimsDoNotWrap(t *testing.T) {
	u := newUnits(t, "")
	u.observe(math.MaxInt64-1, math.MaxInt64-1)
	huge := int64(math.MaxInt64 - 1)
	u.reject(newPod("first", 1), needs(huge, "a"))
	u.reject(newPod("second", 2), needs(huge, "b"))
	u.reject(newPod("third", 3), needs(5, "a"))
	u.Gone(newPod("holder", 0), []pool.Charge{{Resource: "disk", Pool: "a", Quantity: resource.MustParse("9223372036854775807")}})
	if diff := cmp.Diff([]string{"first"}, u.names()); diff != "" {
		t.Errorf("woken pods (-want +got):\n%s", diff)
	}
	u.observe(math.MaxInt64-1, math.MaxInt64-1)
	u.reject(newPod("fourth", 4), needs(huge, "b"))
	u.reject(newPod("fifth", 5), needs(huge, "b"))
	for key, wishes := range u.Wishes() {
		if wish := wishes[0]; wish.Wanted < 0 || wish.Least < 0 {
			t.Errorf("of pool %s %d are wanted, %d at least", key.Pool, wish.Wanted, wish.Least)
		}
	}
}

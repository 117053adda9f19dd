// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package waitlist_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/internal/waitlist"
)

// Pools a and b of 9 units each have nothing and 2 left.
func TestWhatPodsWantThatCannotBeServed(t *testing.T) {
	first, second, third := newPod("first", 1), newPod("second", 2), newPod("third", 3)
	short := func(units int64, pod *corev1.Pod) waitlist.Wish {
		return waitlist.Wish{Wanted: units, Least: units, First: pod, Short: true}
	}
	for name, tc := range map[string]struct {
		mode berthv1alpha1.PoolMode
		do   func(*units)
		want map[string][]waitlist.Wish
	}{
		"the first in line": {
			do: func(u *units) {
				u.reject(second, needs(1, "a"))
				u.reject(first, needs(1, "a"))
			},
			want: map[string][]waitlist.Wish{"a": {short(1, first)}},
		},
		"and those behind it that ask for less": {
			do: func(u *units) {
				u.reject(first, needs(5, "a"))
				u.reject(second, needs(5, "a"))
				u.reject(third, needs(4, "a"))
			},
			want: map[string][]waitlist.Wish{"a": {short(5, first), short(4, third)}},
		},
		"after what can be served": {
			do: func(u *units) {
				u.reject(first, needs(3, "b"))
				u.reject(second, needs(1, "b"))
			},
			want: map[string][]waitlist.Wish{"b": {{Wanted: 1, Least: 1, First: second}, short(3, first)}},
		},
		"the pool that it could use when it was tried, whatever is left of others": {
			do: func(u *units) { u.reject(first, near(needs(1, "a", "b"), "a")) }, want: map[string][]waitlist.Wish{"a": {short(1, first)}},
		},
		"what is left elsewhere, if it has not been tried for long": {
			do: func(u *units) {
				u.reject(first, near(needs(1, "a", "b"), "a"))
				u.clock.Step(time.Minute)
			},
			want: map[string][]waitlist.Wish{"b": {{Wanted: 1, Least: 1, First: first}}},
		},
		"nothing, if it could use none": {
			do: func(u *units) { u.reject(first, near(needs(1, "a", "b"))) }, want: map[string][]waitlist.Wish{},
		},
		"none that no pool is large enough for": {
			do: func(u *units) { u.reject(first, needs(10, "a", "b")) }, want: map[string][]waitlist.Wish{},
		},
		"none that something else is in the way of": {
			do: func(u *units) {
				u.reject(first, needs(1, "a"))
				u.Raised(map[pool.Key]int64{{Resource: "disk", Pool: "a"}: 1})
				u.Held(first.UID)
			},
			want: map[string][]waitlist.Wish{},
		},
		"the pool that is lacking, of those that are charged together": {
			mode: berthv1alpha1.AllOf, do: func(u *units) { u.reject(first, needs(2, "a", "b")) },
			want: map[string][]waitlist.Wish{"a": {short(2, first)}},
		},
		"none, if two are lacking of these": {
			mode: berthv1alpha1.AllOf, do: func(u *units) { u.reject(first, needs(3, "a", "b")) }, want: map[string][]waitlist.Wish{},
		},
		"none, if another ClusterResource is lacking as well": {
			do: func(u *units) {
				u.reject(first, append(needs(1, "a"), needs(3, "b")...))
			},
			want: map[string][]waitlist.Wish{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUnits(t, tc.mode)
			u.observeAll([]int64{0, 0}, []int64{0, 2})
			tc.do(u)
			if diff := cmp.Diff(tc.want, byPool(u)); diff != "" {
				t.Errorf("wishes by pool (-want +got):\n%s", diff)
			}
		})
	}
}

func byPool(u *units) map[string][]waitlist.Wish {
	found := map[string][]waitlist.Wish{}
	for key, wishes := range u.Wishes() {
		found[key.Pool] = wishes
	}
	return found
}

// What others make way for is wanted while they end, however little is there, and nobody behind
// wants that.
func TestWhatIsKeptForAPodIsWanted(t *testing.T) {
	u := newUnits(t, "")
	u.marks["preemptor"] = of("a", "3")
	u.observe(1, 0)
	u.reject(newPod("other", 1), needs(1, "a"))
	want := map[string][]waitlist.Wish{"a": {
		{Wanted: 3, Least: 1, First: newPod("preemptor", 0)}, {Wanted: 1, Least: 1, First: newPod("other", 1), Short: true},
	}}
	if diff := cmp.Diff(want, byPool(u)); diff != "" {
		t.Errorf("wishes of a pod that was not tried yet, by pool (-want +got):\n%s", diff)
	}
	u.reject(newPod("preemptor", 0), needs(3, "a"))
	if diff := cmp.Diff(want, byPool(u)); diff != "" {
		t.Errorf("wishes of one that waits, by pool (-want +got):\n%s", diff)
	}
}

// elsewhere is what is kept for a pod of another scheduler.
type elsewhere struct {
	mark waitlist.Mark
	ends bool
}

func (e *elsewhere) Kept() []waitlist.Mark {
	if e.ends {
		return nil
	}
	return []waitlist.Mark{e.mark}
}

func TestWhatIsKeptForAPodOfAnotherSchedulerIsLeftToIt(t *testing.T) {
	mark := &elsewhere{mark: waitlist.Mark{
		Priority: 9, Charges: of("a", "2"), Applies: func(left int64) bool { return left >= 2 },
	}}
	u := newUnits(t, "")
	u.Units = waitlist.NewUnits(u.clock, mark, func(pool.Charge) bool { return true }, func(*corev1.Pod) bool { return true })
	u.observe(0, 0)
	u.reject(newPod("low", 1), needs(1, "a"))
	u.reject(withPriority(newPod("high", 2), 10), needs(3, "a"))
	u.observe(2, 0)
	u.Lapse()
	got := [][]string{u.names()}
	u.observe(1, 0)
	u.Lapse()
	got = append(got, u.names())
	u.try(newPod("low", 1), needs(1, "a"), 0, 0)
	u.observe(2, 0)
	u.Lapse()
	got = append(got, u.names())
	mark.ends = true
	u.Lapse()
	got = append(got, u.names())
	if diff := cmp.Diff([][]string{{}, {"low"}, {}, {"low"}}, got); diff != "" {
		t.Errorf("woken while it is kept, while there is too little, while it is kept again, and afterwards (-want +got):\n%s", diff)
	}
}

// near lets other plugins leave only some pools to a pod when it is tried.
func near(needs []waitlist.Need, pools ...string) []waitlist.Need {
	needs[0].Near = [][]string{pools}
	return needs
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package waitlist_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/internal/waitlist"
)

// kept are earmarks of pods of priority 0.
type kept map[types.UID][]pool.Charge

func (k kept) Kept() []waitlist.Mark {
	var marks []waitlist.Mark
	for pod, charges := range k {
		marks = append(marks, waitlist.Mark{Pod: newPod(string(pod), 0), Charges: charges})
	}
	return marks
}

// of returns charges to one pool of the resource disk.
func of(poolName, quantity string) []pool.Charge {
	return []pool.Charge{{Resource: "disk", Pool: poolName, Quantity: resource.MustParse(quantity)}}
}

// needs is what a pod waits for of some pools of the resource disk.
func needs(units int64, pools ...string) []waitlist.Need {
	return []waitlist.Need{{Resource: "disk", Units: units, Sites: [][]string{pools}}}
}

// units is a set of pods that wait for the resource disk, with pools a and b of which nothing is
// free.
type units struct {
	*waitlist.Units

	clock *clocktesting.FakeClock
	disk  *pool.Resource
	marks kept
	// gone are pods that the informer does not know any longer, holding those that the latest cycle
	// found to hold something, and seen what it has seen.
	gone, holding map[types.UID]bool
	seen          waitlist.Change
}

func newUnits(t *testing.T, mode berthv1alpha1.PoolMode) *units {
	t.Helper()
	object := &berthv1alpha1.ClusterResource{
		ObjectMeta: metav1.ObjectMeta{Name: "disk"}, Spec: berthv1alpha1.ClusterResourceSpec{Mode: mode},
	}
	for _, name := range []string{"a", "b"} {
		object.Status.Allocatable = append(object.Status.Allocatable, berthv1alpha1.ClusterResourceQuantity{Name: name, Quantity: resource.MustParse("9")})
	}
	disk, err := pool.NewResource(object)
	if err != nil {
		t.Fatal(err)
	}
	u := &units{clock: newClock(), disk: disk, marks: kept{}, gone: map[types.UID]bool{}, holding: map[types.UID]bool{}}
	u.Units = waitlist.NewUnits(u.clock, u.marks, func(c pool.Charge) bool { return c.Grantee != "another" },
		func(pod *corev1.Pod) bool { return !u.gone[pod.UID] })
	u.observe(0, 0)
	return u
}

// observe lets a cycle find so many units free in the pools a and b.
func (u *units) observe(a, b int64) {
	u.observeAll([]int64{a, b}, []int64{a, b})
}

// observeAll is observe with what is in the grants of others.
func (u *units) observeAll(own, all []int64) {
	u.seen = u.Observe(u.cycle(), nil, slices.Values([]waitlist.Found{{Resource: u.disk, Own: own, All: all}}))
}

// cycle is one that begins now.
func (u *units) cycle() *waitlist.Cycle {
	return &waitlist.Cycle{Began: u.Now(), Holds: func(pod types.UID) bool { return u.holding[pod] }}
}

// reject lets a pod be rejected in the cycle that has observed what is free.
func (u *units) reject(pod *corev1.Pod, needs []waitlist.Need) {
	u.Rejected(pod, needs, true, u.seen)
	u.Ended(pod.UID)
}

// try lets a cycle find so many units free for a pod in the pools a and b, and reject it.
func (u *units) try(pod *corev1.Pod, needs []waitlist.Need, a, b int64) {
	u.observe(a, b)
	u.reject(pod, needs)
}

// woken returns which of the pods the release of what a pod held wakes.
func (u *units) woken(gone *corev1.Pod, charges []pool.Charge, pods ...*corev1.Pod) []string {
	names := []string{}
	for _, pod := range pods {
		if u.WokenBy(pod, gone, charges) {
			names = append(names, pod.Name)
		}
	}
	return names
}

func namesOf(pods []*corev1.Pod) []string {
	names := []string{}
	for _, pod := range pods {
		names = append(names, pod.Name)
	}
	return names
}

func TestWhomAReleaseOfUnitsWakes(t *testing.T) {
	first, second, third := newPod("first", 1), newPod("second", 2), newPod("third", 3)
	all := []*corev1.Pod{third, first, second}
	for name, tc := range map[string]struct {
		do      func(*units)
		charges []pool.Charge
		want    []string
	}{
		"the first that it can serve": {charges: of("a", "1"), want: []string{"first"}},
		"as many as it can serve":     {charges: of("a", "3"), want: []string{"first", "second"}},
		"nobody who needs another pool": {
			do: func(u *units) { u.reject(first, needs(1, "b")) }, charges: of("a", "1"), want: []string{},
		},
		"somebody behind one who needs more": {
			do: func(u *units) { u.reject(first, needs(9, "a")) }, charges: of("a", "2"), want: []string{"second"},
		},
		"nobody if it belongs to another scheduler": {
			charges: []pool.Charge{{Resource: "disk", Pool: "a", Quantity: resource.MustParse("1"), Grantee: "another"}}, want: []string{},
		},
		"nobody if it is kept for somebody else": {
			do: func(u *units) { u.marks["else"] = of("a", "1") }, charges: of("a", "1"), want: []string{},
		},
		"the one for whom it is kept": {
			do: func(u *units) { u.marks[second.UID] = of("a", "2") }, charges: of("a", "2"), want: []string{"second"},
		},
		"whoever does not wait": {
			do: func(u *units) { u.Drop(third.UID) }, charges: of("a", "0"), want: []string{"third"},
		},
		"nobody who is rejected for something else": {
			do: func(u *units) { u.reject(first, nil) }, charges: of("a", "1"), want: []string{},
		},
		"the next, if the first was bound": {
			do: func(u *units) { u.Reserved(first.UID, of("a", "1")); u.Released(first.UID, of("a", "1")) }, charges: of("a", "2"), want: []string{"first", "second"},
		},
		"by what it was charged, if it carries no stamp": {
			do: func(u *units) {
				u.Observe(u.cycle(), map[types.UID][]pool.Charge{"gone": of("a", "1")}, slices.Values([]waitlist.Found{}))
			},
			want: []string{"first"},
		},
		"nobody, if nobody knows what it held": {want: []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUnits(t, "")
			u.reject(first, needs(1, "a"))
			u.reject(second, needs(2, "a"))
			u.reject(third, needs(3, "a"))
			if tc.do != nil {
				tc.do(u)
			}
			got := u.woken(newPod("gone", 0), tc.charges, all...)
			slices.Sort(got)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("woken pods (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheReleaseIsCountedOnce(t *testing.T) {
	u := newUnits(t, "")
	first, second, gone := newPod("first", 1), newPod("second", 2), newPod("gone", 0)
	u.reject(first, needs(1, "a"))
	u.reject(second, needs(1, "a"))
	got := [][]string{
		u.woken(gone, of("a", "1"), first, second), u.woken(gone, of("a", "1"), first, second),
		u.woken(newPod("another", 0), of("a", "1"), first, second),
	}
	if diff := cmp.Diff([][]string{{"first"}, {"first"}, {"second"}}, got); diff != "" {
		t.Errorf("woken by one, by the same again, by another (-want +got):\n%s", diff)
	}
}

func TestWishes(t *testing.T) {
	first, second, vip := newPod("first", 1), newPod("second", 2), withPriority(newPod("vip", 3), 5)
	for name, tc := range map[string]struct {
		mode berthv1alpha1.PoolMode
		do   func(*units)
		want map[string][]waitlist.Wish
	}{
		"of the pool with most left": {
			do:   func(u *units) { u.reject(first, needs(2, "a", "b")) },
			want: map[string][]waitlist.Wish{"b": {{Wanted: 2, Least: 2, First: first}}},
		},
		"of all pools with mode AllOf": {
			mode: berthv1alpha1.AllOf, do: func(u *units) { u.reject(first, needs(2, "a", "b")) },
			want: map[string][]waitlist.Wish{"a": {{Wanted: 2, Least: 2, First: first}}, "b": {{Wanted: 2, Least: 2, First: first}}},
		},
		"altogether, and of the least": {
			do: func(u *units) {
				u.reject(second, needs(1, "b"))
				u.reject(first, needs(3, "b"))
			},
			want: map[string][]waitlist.Wish{"b": {{Wanted: 4, Least: 1, First: first}}},
		},
		"by priority, the higher first": {
			do: func(u *units) {
				u.reject(second, needs(1, "b"))
				u.reject(first, needs(1, "b"))
				u.reject(vip, needs(2, "b"))
			},
			want: map[string][]waitlist.Wish{"b": {{Wanted: 2, Least: 2, First: vip}, {Wanted: 2, Least: 1, First: first}}},
		},
		"not of one that is kept out of the queue": {
			do: func(u *units) {
				u.reject(first, needs(1, "a"))
				u.Raised(map[pool.Key]int64{{Resource: "disk", Pool: "a"}: 1})
				u.Held(first.UID)
			},
			want: map[string][]waitlist.Wish{},
		},
		"not of one that is rejected elsewhere": {
			do: func(u *units) {
				u.reject(first, needs(1, "a"))
				u.Raised(map[pool.Key]int64{{Resource: "disk", Pool: "a"}: 1})
				u.Ended(first.UID)
			},
			want: map[string][]waitlist.Wish{},
		},
		"of one that was rejected elsewhere, once it lacks something again": {
			do: func(u *units) {
				u.reject(first, needs(1, "a"))
				u.Raised(map[pool.Key]int64{{Resource: "disk", Pool: "a"}: 1})
				u.Ended(first.UID)
				u.reject(first, needs(1, "a"))
			},
			want: map[string][]waitlist.Wish{"a": {{Wanted: 1, Least: 1, First: first}}},
		},
		"of more than is left, which is short": {
			do: func(u *units) { u.reject(first, needs(6, "a", "b")) },
			want: map[string][]waitlist.Wish{
				"a": {{Wanted: 6, Least: 6, First: first, Short: true}}, "b": {{Wanted: 6, Least: 6, First: first, Short: true}},
			},
		},
		"not of one that found enough": {
			do:   func(u *units) { u.reject(first, needs(1, "a")); u.Served(first.UID, u.seen) },
			want: map[string][]waitlist.Wish{},
		},
		"not of a resource that is gone": {
			do:   func(u *units) { u.reject(first, needs(1, "a")); u.Forget(func(string) bool { return true }) },
			want: map[string][]waitlist.Wish{},
		},
		"of one that stays as it is known": {
			do:   func(u *units) { u.reject(first, needs(1, "a")); u.Forget(func(string) bool { return false }) },
			want: map[string][]waitlist.Wish{"a": {{Wanted: 1, Least: 1, First: first}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUnits(t, tc.mode)
			u.observeAll([]int64{0, 0}, []int64{4, 5}) // all of it is granted to others
			tc.do(u)
			got := map[string][]waitlist.Wish{}
			for key, wish := range u.Wishes() {
				got[key.Pool] = wish
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("wishes by pool (-want +got):\n%s", diff)
			}
		})
	}
}

func TestALargerGrantWakes(t *testing.T) {
	u := newUnits(t, "")
	u.observeAll([]int64{0, 0}, []int64{9, 9})
	first, second := newPod("first", 1), newPod("second", 2)
	u.reject(first, needs(1, "a"))
	u.reject(second, needs(2, "a"))
	raised := u.Raised(map[pool.Key]int64{{Resource: "disk", Pool: "a"}: 2, {Resource: "unknown", Pool: "a"}: 9})
	if diff := cmp.Diff([]string{"first"}, namesOf(raised)); diff != "" {
		t.Errorf("woken pods (-want +got):\n%s", diff)
	}
}

// A grant may be raised while the first cycle that looks at a ClusterResource is under way.
func TestAGrantThatIsRaisedDuringTheFirstCycleWakes(t *testing.T) {
	u := newUnits(t, "")
	u.Forget(func(string) bool { return true })
	cycle, first := u.cycle(), newPod("first", 1)
	u.Raised(map[pool.Key]int64{{Resource: "disk", Pool: "a"}: 1, {Resource: "disk", Pool: "gone"}: 9})
	seen := u.Observe(cycle, nil, slices.Values([]waitlist.Found{{Resource: u.disk, Own: []int64{0, 0}, All: []int64{9, 9}}}))
	u.Rejected(first, needs(1, "a"), true, seen)
	u.Ended("first")
	if diff := cmp.Diff([]string{"first"}, u.names()); diff != "" {
		t.Errorf("woken pods (-want +got):\n%s", diff)
	}
}

// Once there is no other scheduler any more, those are woken whom what they had can serve, and
// those of whom nothing is known.
func TestWhoIsWokenOnceEverythingMayBeGivenOut(t *testing.T) {
	u := newUnits(t, "")
	u.observeAll([]int64{0, 0}, []int64{2, 0})
	first, second, third := newPod("first", 1), newPod("second", 2), newPod("third", 3)
	for _, pod := range []*corev1.Pod{first, second, third} {
		u.reject(pod, needs(1, "a"))
	}
	woken := u.Lifted([]*corev1.Pod{first, second, third, newPod("unknown", 4)})
	if diff := cmp.Diff([]string{"first", "second", "unknown"}, namesOf(woken)); diff != "" {
		t.Errorf("woken pods (-want +got):\n%s", diff)
	}
	u.try(first, needs(1, "a"), 2, 0)
	if diff := cmp.Diff([]string{"third"}, u.names()); diff != "" {
		t.Errorf("woken after the first was tried in vain (-want +got):\n%s", diff)
	}
}

func TestProbes(t *testing.T) {
	for name, tc := range map[string]struct {
		do   func(*units)
		held string
		want []string
	}{
		"nobody while a cycle has just looked": {want: []string{}},
		"nobody who waits for another scheduler by now": {
			do: func(u *units) { u.clock.Step(4 * time.Second) }, held: "first", want: []string{"second"},
		},
		"one pod once none has for long": {
			do: func(u *units) { u.clock.Step(4 * time.Second) }, want: []string{"first"},
		},
		"one of a resource that is not known": {
			do: func(u *units) { u.Forget(func(string) bool { return true }) }, want: []string{"first"},
		},
		"nobody who found enough": {
			do: func(u *units) { u.clock.Step(4 * time.Second); u.Served("first", u.seen) }, want: []string{"second"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUnits(t, "")
			u.reject(newPod("first", 1), needs(1, "a"))
			u.reject(newPod("second", 2), needs(1, "a"))
			if tc.do != nil {
				tc.do(u)
			}
			held := func(pod *corev1.Pod) bool { return pod.Name == tc.held }
			if diff := cmp.Diff(tc.want, namesOf(u.Probes(held))); diff != "" {
				t.Errorf("pods to try (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhoWaitsForAReleaseOnly(t *testing.T) {
	u := newUnits(t, "")
	u.reject(newPod("everywhere", 1), needs(1, "a"))
	u.Rejected(newPod("somewhere", 2), needs(1, "a"), false, u.seen)
	u.reject(newPod("served", 3), needs(1, "a"))
	u.Served("served", u.seen)
	u.reject(newPod("dropped", 4), needs(1, "a"))
	u.Drop("dropped")
	var got []types.UID
	for _, pod := range []types.UID{"everywhere", "somewhere", "served", "dropped", "unknown"} {
		if u.Has(pod) {
			got = append(got, pod)
		}
	}
	if diff := cmp.Diff([]types.UID{"everywhere"}, got); diff != "" {
		t.Errorf("pods that wait for a release only (-want +got):\n%s", diff)
	}
}

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

// kept are earmarks.
type kept map[types.UID][]pool.Charge

func (k kept) Kept() map[types.UID][]pool.Charge { return k }

// of returns charges to one pool of the resource disk.
func of(poolName, quantity string) []pool.Charge {
	return []pool.Charge{{Resource: "disk", Pool: poolName, Quantity: resource.MustParse(quantity)}}
}

// needs is what a pod waits for of some pools of the resource disk.
func needs(units int64, pools ...string) []waitlist.Need {
	return []waitlist.Need{{Resource: "disk", Units: units, Pools: pools}}
}

// units is a set of pods that wait for the resource disk, with pools a and b of which nothing is
// free.
type units struct {
	*waitlist.Units

	clock *clocktesting.FakeClock
	disk  *pool.Resource
	marks kept
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
	u := &units{clock: newClock(), disk: disk, marks: kept{}}
	u.Units = waitlist.NewUnits(u.clock, u.marks, func(c pool.Charge) bool { return c.Grantee != "another" })
	u.observe(0, 0)
	return u
}

// observe lets a cycle find so many units free in the pools a and b.
func (u *units) observe(a, b int64) {
	u.Observe(u.disk, []int64{a, b}, []int64{a, b})
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
			do: func(u *units) { u.Rejected(first, needs(1, "b"), true) }, charges: of("a", "1"), want: []string{},
		},
		"somebody behind one who needs more": {
			do: func(u *units) { u.Rejected(first, needs(9, "a"), true) }, charges: of("a", "2"), want: []string{"second"},
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
		"whoever found enough": {
			do: func(u *units) { u.Served(third.UID) }, charges: of("a", "0"), want: []string{"third"},
		},
		"the next, if the first was bound": {
			do: func(u *units) { u.Reserved(first.UID, of("a", "1")); u.Released(of("a", "1")) }, charges: of("a", "2"), want: []string{"first", "second"},
		},
		"by what it was charged, if it carries no stamp": {
			do:   func(u *units) { u.ObserveStrays(map[types.UID][]pool.Charge{"gone": of("a", "1")}) },
			want: []string{"first"},
		},
		"nobody, if nobody knows what it held": {want: []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUnits(t, "")
			u.Rejected(first, needs(1, "a"), true)
			u.Rejected(second, needs(2, "a"), true)
			u.Rejected(third, needs(3, "a"), true)
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
	u.Rejected(first, needs(1, "a"), true)
	u.Rejected(second, needs(1, "a"), true)
	got := [][]string{
		u.woken(gone, of("a", "1"), first, second), u.woken(gone, of("a", "1"), first, second),
		u.woken(newPod("another", 0), of("a", "1"), first, second),
	}
	if diff := cmp.Diff([][]string{{"first"}, {"first"}, {"second"}}, got); diff != "" {
		t.Errorf("woken by one, by the same again, by another (-want +got):\n%s", diff)
	}
}

// A pod that is tried in vain is tried again after one second, two, four and so on, up to thirty.
func TestPodsThatSeemToFitAreTriedAgain(t *testing.T) {
	u := newUnits(t, "")
	first, second := newPod("first", 1), newPod("second", 2)
	u.Rejected(first, needs(1, "a"), true)
	u.Rejected(second, needs(1, "a"), true)
	u.observe(1, 0)
	var pauses []time.Duration
	for range 7 {
		began := u.clock.Now()
		for {
			u.clock.Step(time.Second)
			if due := namesOf(u.Due()); slices.Contains(due, "first") {
				break
			} else if len(due) > 0 {
				u.Rejected(second, needs(1, "a"), true)
			}
		}
		pauses = append(pauses, u.clock.Since(began))
		u.Rejected(first, needs(1, "a"), true)
	}
	if !slices.IsSorted(pauses) || pauses[0] != time.Second || pauses[6] > 33*time.Second || pauses[6] < 30*time.Second {
		t.Errorf("the first pod is tried again after %v", pauses)
	}
}

func TestAnOfferThatNobodyTakesLapses(t *testing.T) {
	u := newUnits(t, "")
	first, second := newPod("first", 1), newPod("second", 2)
	u.Rejected(first, needs(1, "a"), true)
	u.Rejected(second, needs(1, "a"), true)
	u.observe(1, 0)
	u.clock.Step(time.Second)
	got := [][]string{namesOf(u.Due())}
	u.clock.Step(waitlist.OfferTimeout / 2)
	got = append(got, namesOf(u.Due()))
	u.clock.Step(waitlist.OfferTimeout / 2)
	got = append(got, namesOf(u.Due()))
	if diff := cmp.Diff([][]string{{"first"}, {}, {"first"}}, got); diff != "" {
		t.Errorf("tried at once, while the offer lasts, after it (-want +got):\n%s", diff)
	}
}

func TestWishes(t *testing.T) {
	first, second := newPod("first", 1), newPod("second", 2)
	for name, tc := range map[string]struct {
		mode berthv1alpha1.PoolMode
		do   func(*units)
		want map[string]waitlist.Wish
	}{
		"of the pool with most left": {
			do:   func(u *units) { u.Rejected(first, needs(2, "a", "b"), true) },
			want: map[string]waitlist.Wish{"b": {Wanted: 2, Least: 2, First: first}},
		},
		"of all pools with mode AllOf": {
			mode: berthv1alpha1.AllOf, do: func(u *units) { u.Rejected(first, needs(2, "a", "b"), true) },
			want: map[string]waitlist.Wish{"a": {Wanted: 2, Least: 2, First: first}, "b": {Wanted: 2, Least: 2, First: first}},
		},
		"altogether, and of the least": {
			do: func(u *units) {
				u.Rejected(second, needs(1, "b"), true)
				u.Rejected(first, needs(3, "b"), true)
			},
			want: map[string]waitlist.Wish{"b": {Wanted: 4, Least: 1, First: first}},
		},
		"not of more than there is": {
			do:   func(u *units) { u.Rejected(first, needs(6, "a", "b"), true) },
			want: map[string]waitlist.Wish{},
		},
		"not of one that found enough": {
			do:   func(u *units) { u.Rejected(first, needs(1, "a"), true); u.Served(first.UID) },
			want: map[string]waitlist.Wish{},
		},
		"not of a resource that is gone": {
			do:   func(u *units) { u.Rejected(first, needs(1, "a"), true); u.Forget(func(string) bool { return true }) },
			want: map[string]waitlist.Wish{},
		},
		"of one that stays as it is known": {
			do:   func(u *units) { u.Rejected(first, needs(1, "a"), true); u.Forget(func(string) bool { return false }) },
			want: map[string]waitlist.Wish{"a": {Wanted: 1, Least: 1, First: first}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUnits(t, tc.mode)
			u.Observe(u.disk, []int64{0, 0}, []int64{4, 5}) // all of it is granted to others
			tc.do(u)
			got := map[string]waitlist.Wish{}
			for key, wish := range u.Wishes() {
				got[key.Pool] = *wish
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("wishes by pool (-want +got):\n%s", diff)
			}
		})
	}
}

func TestALargerGrantWakes(t *testing.T) {
	u := newUnits(t, "")
	u.Observe(u.disk, []int64{0, 0}, []int64{9, 9})
	first, second := newPod("first", 1), newPod("second", 2)
	u.Rejected(first, needs(1, "a"), true)
	u.Rejected(second, needs(2, "a"), true)
	raised := u.Raised(map[pool.Key]int64{{Resource: "disk", Pool: "a"}: 2, {Resource: "unknown", Pool: "a"}: 9})
	if diff := cmp.Diff([]string{"first"}, namesOf(raised)); diff != "" {
		t.Errorf("woken pods (-want +got):\n%s", diff)
	}
}

func TestProbes(t *testing.T) {
	for name, tc := range map[string]struct {
		do   func(*units)
		want []string
	}{
		"nobody while a cycle has just looked": {want: []string{}},
		"one pod once none has for long": {
			do: func(u *units) { u.clock.Step(4 * time.Second) }, want: []string{"first"},
		},
		"one of a resource that is not known": {
			do: func(u *units) { u.Forget(func(string) bool { return true }) }, want: []string{"first"},
		},
		"nobody who found enough": {
			do: func(u *units) { u.clock.Step(4 * time.Second); u.Served("first") }, want: []string{"second"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUnits(t, "")
			u.Rejected(newPod("first", 1), needs(1, "a"), true)
			u.Rejected(newPod("second", 2), needs(1, "a"), true)
			if tc.do != nil {
				tc.do(u)
			}
			if diff := cmp.Diff(tc.want, namesOf(u.Probes())); diff != "" {
				t.Errorf("pods to try (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhoWaitsForAReleaseOnly(t *testing.T) {
	u := newUnits(t, "")
	u.Rejected(newPod("everywhere", 1), needs(1, "a"), true)
	u.Rejected(newPod("somewhere", 2), needs(1, "a"), false)
	u.Rejected(newPod("served", 3), needs(1, "a"), true)
	u.Served("served")
	u.Rejected(newPod("dropped", 4), needs(1, "a"), true)
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

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package spending

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugins/internal/catalog"
)

// demands is what pods want that wait for scheduler b, of the pool all.
func demands(change func(*berthv1alpha1.PoolSpending)) *catalog.Homes {
	said := berthv1alpha1.PoolSpending{Resource: "licence", Pool: "all"}
	change(&said)
	return &catalog.Homes{Others: map[string]*berthv1alpha1.Spending{"b": {Pools: []berthv1alpha1.PoolSpending{said}}}}
}

func next(quantity string, priority int32) func(*berthv1alpha1.PoolSpending) {
	return func(said *berthv1alpha1.PoolSpending) {
		said.Next = append(said.Next, berthv1alpha1.PoolDemand{
			Wanted: mustParse(quantity), Least: mustParse(quantity), Priority: priority, Since: metav1.Unix(1, 0),
		})
	}
}

// TestWhatIsLeftToPodsOfOtherSchedulers asks what a pod of priority 5 may have of 4 units, or 2 of
// the resource, that are free within the grant, of 6 altogether.
func TestWhatIsLeftToPodsOfOtherSchedulers(t *testing.T) {
	for name, tc := range map[string]struct {
		homes *catalog.Homes
		want  int64
	}{
		"nobody waits":         {homes: &catalog.Homes{}, want: 4},
		"one comes first":      {homes: demands(next("1", 6)), want: 2},
		"one of the same":      {homes: demands(next("1", 5)), want: 4},
		"one of lower":         {homes: demands(next("1", 4)), want: 4},
		"one that is too much": {homes: demands(next("3500m", 6)), want: 4},
		"several come first":   {homes: demands(func(s *berthv1alpha1.PoolSpending) { next("1", 7)(s); next("500m", 6)(s) }), want: 1},
		"one that has something left to it": {
			homes: demands(func(s *berthv1alpha1.PoolSpending) {
				s.Wanted, s.Least, s.Priority, s.Since = ptr.To(mustParse("2")), ptr.To(mustParse("1")), 6, ptr.To(metav1.Unix(1, 0))
			}),
		},
		"one behind that": {
			homes: demands(func(s *berthv1alpha1.PoolSpending) {
				s.Lower = []berthv1alpha1.PoolDemand{{Wanted: mustParse("1"), Least: mustParse("1"), Priority: 6}}
			}),
			want: 2,
		},
		"another pool": {homes: demands(func(s *berthv1alpha1.PoolSpending) { s.Pool = "other"; next("1", 6)(s) }), want: 4},
	} {
		t.Run(name, func(t *testing.T) {
			a := NewAhead(clocktesting.NewFakePassiveClock(time.Unix(0, 0)))
			a.follow(tc.homes)
			pod := waiting("pod")
			pod.Spec.Priority = ptr.To[int32](5)
			free := []int64{4}
			a.Withhold(pod, resources(licence(1)).Get("licence").Pools, free, []int64{6})
			if free[0] != tc.want {
				t.Errorf("%d units are left to the pod, want %d", free[0], tc.want)
			}
		})
	}
}

// TestItIsLeftToThemForAWhile asks at each second whether a unit is kept.
func TestItIsLeftToThemForAWhile(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	a := NewAhead(clock)
	r := resources(licence(1)).Get("licence").Pools
	kept := func(second, free int64) bool {
		clock.SetTime(time.Unix(second, 0))
		left := []int64{free}
		a.Withhold(waiting("pod"), r, left, []int64{free})
		return left[0] < free
	}
	a.follow(demands(next("1", 6)))
	got := []bool{kept(0, 1), kept(10, 2), kept(11, 2)}
	a.follow(demands(next("1", 6))) // says the same
	got = append(got, kept(12, 2))
	a.follow(demands(next("500m", 6)))
	got = append(got, kept(13, 2), kept(15, 2), kept(16, 0), kept(17, 2))
	want := []bool{false, true, true, false, true, false, false, true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kept while there is too little, when there is enough, a second later, two seconds later, for another pod, "+
			"two seconds later, while there is nothing, and again (-want +got):\n%s", diff)
	}
}

func TestMarksForPodsOfOtherSchedulers(t *testing.T) {
	a := NewAhead(clocktesting.NewFakePassiveClock(time.Unix(0, 0)))
	a.follow(demands(func(s *berthv1alpha1.PoolSpending) { next("1", 6)(s); next("500m", 8)(s) }))
	unit := func(name string) (resource.Quantity, bool) { return mustParse("500m"), name == "licence" }
	marks := a.Marks(unit)
	got := []int64{}
	for _, m := range marks {
		got = append(got, int64(m.Priority))
		for free := int64(0); ; free++ {
			if m.Applies(free) {
				got = append(got, free)
				break
			}
		}
	}
	if diff := cmp.Diff([]int64{7, 1, 5, 2}, got); diff != "" {
		t.Errorf("the priority up to which it is kept, and the units from which on, of each (-want +got):\n%s", diff)
	}
	a.follow(demands(next("1", math.MinInt32)))
	if lowest := a.Marks(unit); len(lowest) > 0 {
		t.Errorf("%v is kept from pods of a lower priority than the lowest", lowest)
	}
	a.follow(demands(next("1", 6)))
	if unknown := a.Marks(func(string) (resource.Quantity, bool) { return resource.Quantity{}, false }); len(unknown) > 0 {
		t.Errorf("of a ClusterResource that is not known %v is kept", unknown)
	}
}

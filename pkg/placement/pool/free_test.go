// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/pool"
)

// edge generates numbers of units, most of them next to where an int64 ends or changes its sign.
func edge() *rapid.Generator[int64] {
	return rapid.OneOf(
		rapid.Int64Range(-3, 3), rapid.Int64Range(math.MaxInt64-3, math.MaxInt64),
		rapid.Int64Range(-math.MaxInt64, -math.MaxInt64+3), rapid.Int64(),
	)
}

func TestUnitsAreAddedWithoutOverflow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		free, units := edge().Draw(t, "free"), edge().Draw(t, "units")
		exact := new(big.Int).Add(big.NewInt(free), big.NewInt(units))
		want := exact.Int64()
		switch {
		case free == pool.Uncountable || exact.Cmp(big.NewInt(math.MinInt64)) < 0:
			want = pool.Uncountable
		case exact.Cmp(big.NewInt(math.MaxInt64)) > 0:
			want = math.MaxInt64
		}
		if got := pool.AddUnits(free, units); got != want {
			t.Fatalf("%d and %d more are %d, want %d", free, units, got, want)
		}
	})
}

func TestWhatIsShortIsExactOrTheLargestNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		free, units := edge().Draw(t, "free"), max(0, edge().Draw(t, "units"))
		exact := new(big.Int).Sub(big.NewInt(units), big.NewInt(free))
		want := exact.Int64()
		if free == pool.Uncountable || !exact.IsInt64() {
			want = math.MaxInt64
		}
		if got := pool.Short(free, units); got != want {
			t.Fatalf("of %d with %d left %d are short, want %d", units, free, got, want)
		}
	})
}

func TestWhatCannotBeCountedIsNeverFree(t *testing.T) {
	r := ready(t, declared(berthv1alpha1.AnyOf, of("all", "10")))
	account := pool.NewAccount()
	huge := []pool.Charge{{Resource: "licences", Pool: "all", Quantity: resource.MustParse("9E")}}
	account.Add(huge)
	account.Add(huge)
	free := account.Free(r)
	if want := []int64{pool.Uncountable}; !cmp.Equal(want, free) {
		t.Fatalf("free %v, want %v", free, want)
	}
	for range 3 {
		free[0] = pool.AddUnits(free[0], pool.UnitsUp(huge[0].Quantity, r.Unit()))
	}
	if r.Admits([]int32{0}, freeIn(free), 1) {
		t.Errorf("a pod is admitted once what nobody could count was given back: %d", free[0])
	}
}

func TestARequestBeyondAllNumbersIsNeverMet(t *testing.T) {
	for _, mode := range []berthv1alpha1.PoolMode{berthv1alpha1.AnyOf, berthv1alpha1.AllOf} {
		r, free := ready(t, declared(mode, of("all", "0"))), freeIn([]int64{math.MaxInt64})
		units := pool.UnitsUp(resource.MustParse("10E"), r.Unit())
		if r.Admits([]int32{0}, free, units) {
			t.Errorf("%s: a pod is admitted that asks for more than can be counted", mode)
		}
		if _, ok := r.Choose([]int32{0}, free, units); ok {
			t.Errorf("%s: a pool is chosen for a pod that asks for more than can be counted", mode)
		}
		if drawn := r.Draws([]int32{0}, free, units); len(drawn) > 0 {
			t.Errorf("%s: a pod that asks for more than can be counted is expected to be charged", mode)
		}
	}
}

func TestDraws(t *testing.T) {
	tests := map[string]struct {
		mode  berthv1alpha1.PoolMode
		pools []int32
		free  []int64
		want  []string
	}{
		"one pool with just enough":              {pools: []int32{0}, free: []int64{2, 0, 0}, want: []string{"a"}},
		"one pool with too little":               {pools: []int32{0}, free: []int64{1, 9, 9}},
		"no pool":                                {free: []int64{9, 9, 9}},
		"the pool with most left":                {pools: []int32{0, 1, 2}, free: []int64{3, 5, 4}, want: []string{"b"}},
		"the first of two with equally much":     {pools: []int32{2, 0}, free: []int64{5, 9, 5}, want: []string{"c"}},
		"not the fuller one that is not reached": {pools: []int32{0, 2}, free: []int64{3, 5, 4}, want: []string{"c"}},
		"all with enough, with mode AllOf": {
			mode: berthv1alpha1.AllOf, pools: []int32{0, 1, 2}, free: []int64{3, 1, 2}, want: []string{"a", "c"},
		},
		"none has enough, with mode AllOf": {mode: berthv1alpha1.AllOf, pools: []int32{0, 1}, free: []int64{1, 1, 9}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := ready(t, declared(tc.mode, of("a", "9"), of("b", "9"), of("c", "9")))
			before := append([]int32{}, tc.pools...)
			got := names(r, r.Draws(tc.pools, freeIn(tc.free), 2))
			if diff := cmp.Diff(append([]string{}, tc.want...), got); diff != "" {
				t.Errorf("a pod of 2 units draws on (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, append([]int32{}, tc.pools...)); diff != "" {
				t.Errorf("the pools of the caller have changed (-before +after):\n%s", diff)
			}
		})
	}
}

// What a pod is expected to draw on before its node is known is never less than what it is charged
// on one, and never more than is left.
func TestAPodDrawsOnPoolsThatHaveEnough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := ready(t, drawObject(t))
		account, units := booked(drawCharges(t, r)...), rapid.Int64Range(1, 6).Draw(t, "units")
		all := make([]int32, len(r.Pools()))
		for i := range all {
			all[i] = int32(i)
		}
		free := account.Free(r)
		drawn := r.Draws(all, freeIn(free), units)
		for _, i := range drawn {
			if free[i] < units {
				t.Fatalf("%d units are drawn from pool %d, which has %d left", units, i, free[i])
			}
		}
		_, charged := r.Choose(all, freeIn(free), units)
		if charged && len(drawn) == 0 || !charged && !r.AllOf() && len(drawn) > 0 {
			t.Fatalf("a pod that can be charged (%t) draws on %v", charged, drawn)
		}
	})
}

func TestLeft(t *testing.T) {
	counted := func(name, free string) berthv1alpha1.PoolAllocation {
		return berthv1alpha1.PoolAllocation{Name: name, Free: resource.MustParse(free)}
	}
	tests := map[string]struct {
		allocated []berthv1alpha1.PoolAllocation
		want      []int64
	}{
		"nothing has been counted":       {want: []int64{10, 20}},
		"one has been counted":           {allocated: []berthv1alpha1.PoolAllocation{counted("b", "5")}, want: []int64{10, 5}},
		"one that is declared no more":   {allocated: []berthv1alpha1.PoolAllocation{counted("gone", "5")}, want: []int64{10, 20}},
		"one that was larger then":       {allocated: []berthv1alpha1.PoolAllocation{counted("a", "50")}, want: []int64{10, 20}},
		"a part of a unit is a whole":    {allocated: []berthv1alpha1.PoolAllocation{counted("a", "1500m")}, want: []int64{2, 20}},
		"nothing is left of one of them": {allocated: []berthv1alpha1.PoolAllocation{counted("a", "0"), counted("b", "1")}, want: []int64{0, 1}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			object := declared(berthv1alpha1.AnyOf, of("a", "10"), of("b", "20"))
			object.Status.Allocated = tc.allocated
			if diff := cmp.Diff(tc.want, ready(t, object).Left(&object.Status)); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
		})
	}
}

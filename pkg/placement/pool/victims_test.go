// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/pool"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// holderOf is a candidate that gives units back to pool 0 of claim 0.
func holderOf(units int64, priority int32, minutes int) pool.Holder {
	return pool.Holder{
		Priority: priority, Started: noon.Add(time.Duration(minutes) * time.Minute),
		Frees: []pool.Freed{{Claim: 0, Pool: 0, Units: units}},
	}
}

// guarded puts a candidate under budgets.
func guarded(c pool.Holder, budgets ...int) pool.Holder {
	c.Budgets = budgets
	return c
}

func short(units int64) []pool.Lack {
	return []pool.Lack{{Pools: []int32{0}, Short: []int64{units}}}
}

// bothShort lacks so many units of each of two claims.
func bothShort(units int64) []pool.Lack {
	return append(short(units), short(units)...)
}

// dozen has two candidates that do for 10 units of two claims together, others that look better one
// by one, and one that does not help.
func dozen() []pool.Holder {
	both := func(first, second int64) pool.Holder {
		return pool.Holder{Started: noon, Frees: []pool.Freed{{Claim: 0, Units: first}, {Claim: 1, Units: second}}}
	}
	candidates := []pool.Holder{both(9, 3), both(8, 3), both(8, 3), both(8, 3), both(10, 0), both(0, 10)}
	candidates = append(candidates, slices.Repeat([]pool.Holder{both(1, 0)}, 6)...)
	return append(candidates, pool.Holder{Frees: []pool.Freed{{Pool: 7, Units: 9}}})
}

func TestTheCostOfPodsDoesNotDependOnTheirOrder(t *testing.T) {
	pods := func(pods ...pool.Holder) []*pool.Holder {
		found := make([]*pool.Holder, len(pods))
		for i := range pods {
			found[i] = &pods[i]
		}
		return found
	}
	one, other := holderOf(1, 1, 0), holderOf(1, 5, 9)
	younger, older := holderOf(1, 1, 9), holderOf(1, 1, 0)
	for _, pair := range [][2]pool.Holder{{one, other}, {younger, older}} {
		if got := pool.CostOf(pods(pair[0], pair[1]), nil).Compare(pool.CostOf(pods(pair[1], pair[0]), nil)); got != 0 {
			t.Errorf("the costs of the same two pods compare as %d", got)
		}
	}
}

func TestWhoMakesWay(t *testing.T) {
	for name, tc := range map[string]struct {
		lacks      []pool.Lack
		candidates []pool.Holder
		allowed    []int32
		want       []int
		wantNone   bool
	}{
		"the lowest priority":     {lacks: short(1), candidates: []pool.Holder{holderOf(1, 5, 0), holderOf(1, 3, 0)}, want: []int{1}},
		"of equals the youngest":  {lacks: short(1), candidates: []pool.Holder{holderOf(1, 5, 0), holderOf(1, 5, 9)}, want: []int{1}},
		"as few as possible":      {lacks: short(3), candidates: []pool.Holder{holderOf(1, 0, 0), holderOf(2, 0, 0), holderOf(3, 9, 0)}, want: []int{2}},
		"nobody if nothing lacks": {lacks: short(0), candidates: []pool.Holder{holderOf(1, 0, 0)}, want: nil},
		"nobody if it would not help": {
			lacks: short(3), candidates: []pool.Holder{holderOf(1, 0, 0), holderOf(1, 0, 0)}, wantNone: true,
		},
		"a budget before a priority": {
			lacks: short(1), candidates: []pool.Holder{guarded(holderOf(1, 0, 0), 0), holderOf(1, 9, 0)}, allowed: []int32{0}, want: []int{1},
		},
		"a budget that allows one": {
			lacks: short(2), allowed: []int32{1}, want: []int{0, 2},
			candidates: []pool.Holder{guarded(holderOf(1, 0, 0), 0), guarded(holderOf(1, 0, 0), 0), holderOf(1, 9, 0)},
		},
		"every pool of AllOf": {
			lacks: []pool.Lack{{AllOf: true, Pools: []int32{0, 1}, Short: []int64{1, 1}}}, want: []int{0, 1},
			candidates: []pool.Holder{holderOf(1, 0, 0), {Frees: []pool.Freed{{Pool: 1, Units: 1}}}},
		},
		"either pool of AnyOf, not both": {
			lacks: []pool.Lack{{Pools: []int32{0, 1}, Short: []int64{2, 2}}}, want: []int{1},
			candidates: []pool.Holder{holderOf(1, 0, 0), {Priority: 9, Frees: []pool.Freed{{Pool: 1, Units: 2}}}},
		},
		"of those who have other pools, too": {
			lacks: short(1), want: []int{1},
			candidates: []pool.Holder{{Frees: []pool.Freed{{Pool: 7, Units: 9}}}, {Frees: []pool.Freed{{Pool: 7, Units: 9}, {Pool: 0, Units: 1}}}},
		},
		"two cheap ones of many instead of who holds most": {
			lacks: short(4), want: []int{1, 2},
			candidates: append([]pool.Holder{holderOf(3, 9, 0), holderOf(2, 1, 0), holderOf(2, 1, 0)},
				slices.Repeat([]pool.Holder{holderOf(1, 0, 0)}, 12)...),
		},
		"a budget that allows as many as it must": {
			lacks: short(1), candidates: []pool.Holder{guarded(holderOf(1, 0, 0), 0), holderOf(1, 9, 0)}, allowed: []int32{1}, want: []int{0},
		},
		"one large one of many instead of small ones": {
			lacks: short(3), want: []int{13},
			candidates: append(slices.Repeat([]pool.Holder{holderOf(1, 0, 0)}, 13), holderOf(3, 0, 0)),
		},
		"a small part of what lacks, too": {
			lacks: short(5000), want: []int{0, 1}, candidates: []pool.Holder{holderOf(4999, 0, 0), holderOf(1, 0, 0)},
		},
		"one of many that is a small part of what lacks": {
			lacks: short(5000), want: []int{12, 13},
			candidates: append(slices.Repeat([]pool.Holder{guarded(holderOf(1, 0, 0), 0)}, 12), holderOf(4999, 0, 0), holderOf(1, 9, 0)),
			allowed:    []int32{0},
		},
		"the pool of AllOf that lacks nothing does not count": {
			lacks: []pool.Lack{{AllOf: true, Pools: []int32{0, 1}, Short: []int64{0, 2}}}, want: []int{0},
			candidates: []pool.Holder{{Frees: []pool.Freed{{Pool: 0, Units: 1}, {Pool: 1, Units: 2}}}},
		},
		"the only pool of AllOf": {
			lacks: []pool.Lack{{AllOf: true, Pools: []int32{0}, Short: []int64{1}}}, want: []int{0},
			candidates: []pool.Holder{holderOf(1, 0, 0)},
		},
		"nobody helps where there is no pool": {
			lacks: []pool.Lack{{AllOf: true}}, candidates: []pool.Holder{holderOf(1, 0, 0)}, wantNone: true,
		},
		"one is spared once a cheaper one has taken the place of another": {
			lacks: []pool.Lack{{Pools: []int32{0, 1}, Short: []int64{0, 1}}, {Pools: []int32{0, 1}, Short: []int64{3, 1}}}, want: []int{11},
			candidates: append(slices.Repeat([]pool.Holder{{Frees: []pool.Freed{{Pool: 1, Units: 1}}}}, 10),
				pool.Holder{Frees: []pool.Freed{{Pool: 1, Units: 1}, {Claim: 1, Units: 1}}},
				pool.Holder{Frees: []pool.Freed{{Claim: 1, Pool: 1, Units: 1}}},
				pool.Holder{Priority: 1, Frees: []pool.Freed{{Pool: 1, Units: 1}, {Claim: 1, Units: 2}}}),
		},
		"the best set of a dozen": {lacks: bothShort(10), candidates: dozen(), want: []int{4, 5}},
		"a pod that helps with two claims": {
			lacks: []pool.Lack{{Pools: []int32{0}, Short: []int64{1}}, {Pools: []int32{0}, Short: []int64{1}}}, want: []int{1},
			candidates: []pool.Holder{
				holderOf(1, 0, 0), {Priority: 5, Frees: []pool.Freed{{Claim: 0, Units: 1}, {Claim: 1, Units: 1}}}, {Frees: []pool.Freed{{Claim: 1, Units: 1}}},
			},
		},
		"pods that give back more than an int64 can hold": {
			lacks: []pool.Lack{{AllOf: true, Pools: []int32{0, 1}, Short: []int64{1, 1}}}, want: []int{0, 1},
			candidates: []pool.Holder{
				{Frees: []pool.Freed{{Pool: 0, Units: math.MaxInt64}, {Pool: 0, Units: math.MaxInt64}}},
				{Frees: []pool.Freed{{Pool: 1, Units: 1}}},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := pool.Victims(tc.lacks, tc.candidates, tc.allowed)
			if ok == tc.wantNone {
				t.Errorf("there are victims: %t", ok)
			}
			if diff := cmp.Diff(tc.want, got, cmp.Transformer("none", func(s []int) []int { return append([]int{}, s...) })); diff != "" {
				t.Errorf("victims (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheMoreImportantAreReprievedFirst(t *testing.T) {
	for name, tc := range map[string]struct {
		candidates []pool.Holder
		want       []int
	}{
		"nobody":                          {want: []int{}},
		"the higher priority":             {candidates: []pool.Holder{holderOf(1, 1, 0), holderOf(1, 3, 0), holderOf(1, 2, 0)}, want: []int{1, 2, 0}},
		"of equals the one that is older": {candidates: []pool.Holder{holderOf(1, 1, 9), holderOf(1, 1, 3)}, want: []int{1, 0}},
		"priority before age":             {candidates: []pool.Holder{holderOf(1, 1, 0), holderOf(1, 2, 9)}, want: []int{1, 0}},
		"equal ones as they come":         {candidates: []pool.Holder{holderOf(1, 1, 0), holderOf(2, 1, 0)}, want: []int{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, pool.ByImportance(tc.candidates)); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
		})
	}
}

// covers reports whether nothing is lacking without some of the candidates; the plain reading of
// what Victims promises.
func covers(lacks []pool.Lack, candidates []pool.Holder, gone []int) bool {
	for claim, lack := range lacks {
		met := 0
		for n, p := range lack.Pools {
			back := int64(0)
			for _, i := range gone {
				for _, freed := range candidates[i].Frees {
					if freed.Claim == claim && freed.Pool == p {
						back += freed.Units
					}
				}
			}
			if back >= lack.Short[n] {
				met++
			}
		}
		if met == 0 || lack.AllOf && met < len(lack.Pools) {
			return false
		}
	}
	return true
}

func someCandidates(r *rapid.T, most int) ([]pool.Lack, []pool.Holder, []int32) {
	lacks := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) pool.Lack {
		return pool.Lack{
			AllOf: rapid.Bool().Draw(r, "all of"), Pools: []int32{0, 1},
			Short: []int64{rapid.Int64Range(-1, 5).Draw(r, "short"), rapid.Int64Range(-1, 5).Draw(r, "short")},
		}
	}), 1, 2).Draw(r, "lacks")
	candidates := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) pool.Holder {
		c := pool.Holder{
			Priority: rapid.Int32Range(0, 3).Draw(r, "priority"), Started: noon.Add(time.Duration(rapid.IntRange(0, 3).Draw(r, "age")) * time.Minute),
			Frees: rapid.SliceOfN(rapid.Custom(func(r *rapid.T) pool.Freed {
				return pool.Freed{
					Claim: rapid.IntRange(0, len(lacks)-1).Draw(r, "claim"), Pool: rapid.Int32Range(0, 1).Draw(r, "pool"),
					Units: rapid.Int64Range(1, 4).Draw(r, "units"),
				}
			}), 1, 3).Draw(r, "frees"),
		}
		if rapid.Bool().Draw(r, "guarded") {
			c.Budgets = []int{0}
		}
		return c
	}), 0, most).Draw(r, "candidates")
	return lacks, candidates, []int32{rapid.Int32Range(0, 2).Draw(r, "allowed")}
}

func TestVictimsAreTheCheapestSet(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		lacks, candidates, allowed := someCandidates(r, 8)
		cost := func(set []int) pool.Cost {
			var pods []*pool.Holder
			for _, i := range set {
				pods = append(pods, &candidates[i])
			}
			return pool.CostOf(pods, allowed)
		}
		got, ok := pool.Victims(lacks, candidates, allowed)
		possible := false
		for mask := range 1 << len(candidates) {
			var set []int
			for i := range candidates {
				if mask&(1<<i) != 0 {
					set = append(set, i)
				}
			}
			if !covers(lacks, candidates, set) {
				continue
			}
			if possible = true; ok && cost(set).Compare(cost(got)) < 0 {
				r.Fatalf("chose %v, but %v is cheaper", got, set)
			}
		}
		if possible != ok || ok && !covers(lacks, candidates, got) {
			r.Fatalf("chose %v (%t), possible: %t", got, ok, possible)
		}
	})
}

func TestNoVictimCanBeSpared(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		lacks, candidates, allowed := someCandidates(r, 40)
		got, ok := pool.Victims(lacks, candidates, allowed)
		if !ok {
			return
		}
		if !covers(lacks, candidates, got) {
			r.Fatalf("%v are not enough", got)
		}
		for n := range got {
			if rest := slices.Delete(slices.Clone(got), n, n+1); covers(lacks, candidates, rest) {
				r.Fatalf("of %v, %d could be spared", got, got[n])
			}
		}
	})
}

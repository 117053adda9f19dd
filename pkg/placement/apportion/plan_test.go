// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apportion_test

import (
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/apportion"
)

func TestPlanSaysTheSameFromEverySide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, o := drawOrder(t, rapid.SampledFrom([]bounds{bounded, parted}).Draw(t, "bounds"))
		n := rapid.Int64Range(-1, 300).Draw(t, "n")
		p := o.Plan(n)
		shares, unplaced := o.Shares(n)
		if got, want := p.Replicas(), max(n, 0); got != want {
			t.Fatalf("Replicas = %d, want %d", got, want)
		}
		if got := p.Unplaced(); got != unplaced {
			t.Fatalf("Unplaced = %d, want %d", got, unplaced)
		}
		if diff := cmp.Diff(o.Seats(n), p.Seats()); diff != "" {
			t.Fatalf("Seats (-want +got):\n%s", diff)
		}
		seen := 0
		for c := range list {
			seats := p.SeatsOf(c)
			if got := int64(p.Share(c)); got != shares[c] || got != int64(len(seats)) {
				t.Fatalf("cluster %d: Share = %d with %d seats, want %d", c, got, len(seats), shares[c])
			}
			if !slices.IsSorted(seats) {
				t.Fatalf("seats of cluster %d are not ascending: %v", c, seats)
			}
			for _, s := range seats {
				if owner, ok := p.Owner(int64(s)); !ok || owner != c {
					t.Fatalf("Owner(%d) = %d, %t, want %d", s, owner, ok, c)
				}
			}
			seen += len(seats)
		}
		if seen != p.Len() {
			t.Fatalf("the clusters have %d seats, the plan %d", seen, p.Len())
		}
	})
}

func TestPlanKnowsItsEnds(t *testing.T) {
	p := mustOrder(t, []apportion.Cluster{{Name: "a", Weight: 1}}).Plan(3)
	for _, seat := range []int64{-1, 3, math.MaxInt64, math.MinInt64} {
		if owner, ok := p.Owner(seat); ok {
			t.Errorf("Owner(%d) = %d, want none", seat, owner)
		}
	}
	huge := mustOrder(t, []apportion.Cluster{{Name: "a", Weight: 1}}).Plan(math.MaxInt64)
	if got, want := huge.Unplaced(), int64(math.MaxInt64-apportion.MaxSeats); got != want {
		t.Errorf("Unplaced = %d, want %d", got, want)
	}
}

func TestFirstFreeOf(t *testing.T) {
	// At 2:3 the seats are b a b a b.
	p := mustOrder(t, []apportion.Cluster{{Name: "a", Weight: 2}, {Name: "b", Weight: 3}}).Plan(5)
	const a, b, none = 0, 1, -1
	tests := map[string]struct {
		a, b []int64 // the seats of the replicas in each cluster

		wantA, wantB int
	}{
		"nothing runs":                            {wantA: 1, wantB: 0},
		"the first seats are held":                {a: []int64{1}, b: []int64{0}, wantA: 3, wantB: 2},
		"a gap is filled first":                   {a: []int64{3}, b: []int64{0, 4}, wantA: 1, wantB: 2},
		"everything runs":                         {a: []int64{1, 3}, b: []int64{0, 2, 4}, wantA: none, wantB: none},
		"a replica without a seat takes up room":  {a: []int64{1, -1}, wantA: none, wantB: 0},
		"a seat of another cluster takes up room": {a: []int64{0, 2}, wantA: none, wantB: 0},
		"a seat in the wrong cluster stays free":  {a: []int64{0}, b: []int64{2}, wantA: 3, wantB: 0},
		"a replica without a seat is to have one": {b: []int64{-1}, wantA: 1, wantB: 2},
		"two replicas are to have a seat":         {b: []int64{3, -1}, wantA: 1, wantB: 4},
		"a seat is held, a replica has none":      {b: []int64{2, -1}, wantA: 1, wantB: 4},
		"one of two replicas is to have another":  {b: []int64{0, 0}, wantA: 1, wantB: 4},
		"a seat beyond the plan takes up room":    {a: []int64{6, 9}, b: []int64{0}, wantA: none, wantB: 2},
		"two replicas on one seat are two":        {a: []int64{1, 1}, b: []int64{0}, wantA: none, wantB: 2},
		"too many replicas":                       {a: []int64{1, 3, 5}, b: []int64{0, 2}, wantA: none, wantB: 4},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			held := []*apportion.Held{holding(tc.a...), holding(tc.b...)}
			for c, want := range map[int]int{a: tc.wantA, b: tc.wantB} {
				got, ok := p.FirstFreeOf(c, held[c])
				if ok != (want != none) || ok && got != want {
					t.Errorf("FirstFreeOf(%d) = %d, %t, want %d", c, got, ok, want)
				}
				if free := p.Free(c, held[c]); (free > 0) != ok {
					t.Errorf("Free(%d) = %d, but a free seat: %t", c, free, ok)
				}
			}
		})
	}
}

// Whatever ran before, replacing one replica of a cluster with too many by one on
// the first free seat ends at the shares after as many moves as there were
// replicas too many, and never moves one twice.
func TestReplacingSurplusReplicasEndsAtTheShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, o := drawOrder(t, unbounded)
		n := rapid.IntRange(0, 60).Draw(t, "n")
		p := o.Plan(int64(n))
		before := make([][]int64, len(list)) // seats of the replicas in each cluster
		for seat := range n {
			c := rapid.IntRange(0, len(list)-1).Draw(t, "cluster")
			before[c] = append(before[c], int64(seat))
		}
		held := make([]*apportion.Held, len(list))
		surplus := 0
		for c := range list {
			held[c] = holding(before[c]...)
			surplus += max(-p.Free(c, held[c]), 0)
		}
		for range surplus {
			c := 0
			for p.Free(c, held[c]) >= 0 {
				c++
			}
			if !held[c].Remove(before[c][0]) {
				t.Fatalf("seat %d of cluster %d is not held", before[c][0], c)
			}
			before[c] = before[c][1:]
			to := slices.IndexFunc(held, func(h *apportion.Held) bool { return p.Free(slices.Index(held, h), h) > 0 })
			if to < 0 {
				t.Fatal("no free seat for the replacement")
			}
			seat, _ := p.FirstFreeOf(to, held[to])
			held[to].Add(int64(seat))
		}
		for c := range list {
			if free := p.Free(c, held[c]); free != 0 {
				t.Fatalf("cluster %d is %d short of its share after all moves", c, free)
			}
		}
	})
}

func TestPlanDoesNotAllocateWhenAsked(t *testing.T) {
	p := mustOrder(t, []apportion.Cluster{{Name: "a", Weight: 2}, {Name: "b", Weight: 3}}).Plan(500)
	held := []*apportion.Held{holding(1, 3), holding(0)}
	for name, ask := range map[string]func(){
		"Share":       func() { p.Share(1) },
		"Owner":       func() { p.Owner(7) },
		"Seats":       func() { p.Seats() },
		"SeatsOf":     func() { p.SeatsOf(1) },
		"Free":        func() { p.Free(1, held[1]) },
		"FirstFreeOf": func() { p.FirstFreeOf(1, held[1]) },
	} {
		if got := testing.AllocsPerRun(10, ask); got != 0 {
			t.Errorf("%s allocates %v times", name, got)
		}
	}
}

// The race detector makes this test mean something.
func TestOrderAndPlanAreSafeForConcurrentUse(t *testing.T) {
	o := mustOrder(t, clustersOf(map[string]int64{"a": 170, "b": 110, "c": 60}, map[string]int64{"b": 2}, nil))
	p := o.Plan(100)
	want, _ := o.Shares(100)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			shares, _ := o.Shares(100)
			o.Ranking(shares)
			if diff := cmp.Diff(want, shares); diff != "" || o.Plan(100).Len() != p.Len() {
				t.Errorf("shares (-want +got):\n%s", diff)
			}
			for seat, c := range p.Seats() {
				if number, ok := o.SeatNumber(int(c), int64(slices.Index(p.SeatsOf(int(c)), int32(seat)))); !ok || number != int64(seat) {
					t.Errorf("SeatNumber = %d, %t, want %d", number, ok, seat)
				}
			}
		})
	}
	wg.Wait()
}

func holding(seats ...int64) *apportion.Held {
	h := &apportion.Held{}
	for _, s := range seats {
		h.Add(s)
	}
	return h
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apportion_test

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/apportion"
)

// replicas generates numbers of all magnitudes, each as likely as the others.
func replicas() *rapid.Generator[int64] {
	magnitudes := rapid.Custom(func(t *rapid.T) int64 {
		bit := int64(1) << rapid.IntRange(0, 62).Draw(t, "magnitude")
		return bit + rapid.Int64Range(0, bit-1).Draw(t, "rest")
	})
	return rapid.OneOf(magnitudes, rapid.Int64Range(0, 100), rapid.Int64Range(math.MaxInt64-100, math.MaxInt64))
}

func TestSeatsFollowTheRuleInExactFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, o := drawOrder(t, rapid.SampledFrom([]bounds{bounded, parted}).Draw(t, "bounds"))
		n := rapid.Int64Range(0, 150).Draw(t, "n")
		if diff := cmp.Diff(seatsByOracle(list, n), o.Seats(n)); diff != "" {
			t.Fatalf("seats (-want +got):\n%s", diff)
		}
	})
}

func TestSharesAreTheCountsOfTheFirstSeats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SampledFrom([]bounds{unbounded, bounded, parted, {maxMin: 300, maxRange: 3000, zero: true}}).Draw(t, "bounds")
		list, o := drawOrder(t, b)
		n := rapid.Int64Range(0, 5000).Draw(t, "n")
		want := make([]int64, len(list))
		seats := o.Seats(n)
		for _, c := range seats {
			want[c]++
		}
		shares, unplaced := o.Shares(n)
		if diff := cmp.Diff(want, shares); diff != "" {
			t.Fatalf("shares (-want +got):\n%s", diff)
		}
		if want := n - int64(len(seats)); unplaced != want {
			t.Fatalf("unplaced = %d, want %d", unplaced, want)
		}
	})
}

// The first n seats are the only set of n seats in which every seat precedes
// every seat outside: this proves shares of numbers that nobody can count up to.
func TestSharesOfAnySizeSplitTheSeatOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SampledFrom([]bounds{unbounded, bounded, parted, extreme, {maxMin: math.MaxInt32, maxRange: math.MaxInt32}}).Draw(t, "bounds")
		list, o := drawOrder(t, b)
		n := replicas().Draw(t, "n")
		shares, unplaced := o.Shares(n)
		if got := sum(shares) + unplaced; got != n {
			t.Fatalf("shares and unplaced add up to %d, want %d", got, n)
		}
		for i, in := range list {
			if shares[i] == 0 {
				continue
			}
			if ok, _ := roomFor(in, shares[i]-1); !ok {
				t.Fatalf("cluster %s got %d seats, more than its maximum", in.Name, shares[i])
			}
			for j, out := range list {
				if ok, _ := roomFor(out, shares[j]); ok && i != j && compareSeats(in, shares[i]-1, out, shares[j]) > 0 {
					t.Fatalf("seat %d of %s was given before seat %d of %s", shares[i]-1, in.Name, shares[j], out.Name)
				}
			}
		}
	})
}

func TestSharesAddUpToTheSmallerOfReplicasAndCapacity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SampledFrom([]bounds{bounded, parted, extreme}).Draw(t, "bounds")
		list, o := drawOrder(t, b)
		n := replicas().Draw(t, "n")
		shares, unplaced := o.Shares(n)
		if got, want := sum(shares), min(n, capacityOf(list)); got != want {
			t.Fatalf("shares add up to %d, want %d", got, want)
		}
		if got, want := unplaced, n-min(n, capacityOf(list)); got != want {
			t.Fatalf("unplaced = %d, want %d", got, want)
		}
	})
}

func TestScalingUpTakesNoSeatAndScalingDownGivesNone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, o := drawOrder(t, rapid.SampledFrom([]bounds{unbounded, bounded, parted, extreme}).Draw(t, "bounds"))
		small, large := replicas().Draw(t, "n"), replicas().Draw(t, "m")
		if small > large {
			small, large = large, small
		}
		before, _ := o.Shares(small)
		after, _ := o.Shares(large)
		for c := range before {
			if before[c] > after[c] {
				t.Fatalf("cluster %s has %d of %d replicas but %d of %d", o.Name(c), before[c], small, after[c], large)
			}
		}
	})
}

func TestReplicasEqualToTheSumOfWeightsGiveTheWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, o := drawOrder(t, unbounded)
		times := rapid.Int64Range(1, math.MaxInt32/12).Draw(t, "times")
		want := make([]int64, len(list))
		for i, c := range list {
			want[i] = times * c.Weight
		}
		shares, unplaced := o.Shares(sum(want))
		if diff := cmp.Diff(want, shares); diff != "" || unplaced != 0 {
			t.Fatalf("unplaced %d, shares (-want +got):\n%s", unplaced, diff)
		}
	})
}

func TestTheOrderOfTheInputDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, o := drawOrder(t, rapid.SampledFrom([]bounds{bounded, parted}).Draw(t, "bounds"))
		other, err := apportion.NewOrder(shuffled(t, list))
		if err != nil {
			t.Fatalf("NewOrder: %v", err)
		}
		n := rapid.Int64Range(0, 1000).Draw(t, "n")
		if diff := cmp.Diff(owners(o, n), owners(other, n)); diff != "" {
			t.Fatalf("seats (-one order +other order):\n%s", diff)
		}
		shares, _ := o.Shares(n)
		otherShares, _ := other.Shares(n)
		if diff := cmp.Diff(byName(o, shares), byName(other, otherShares)); diff != "" {
			t.Fatalf("shares (-one order +other order):\n%s", diff)
		}
	})
}

func TestACappedClusterSpillsOverToTheOthersOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, o := drawOrder(t, unbounded)
		n := rapid.Int64Range(0, 10_000).Draw(t, "n")
		free, _ := o.Shares(n)
		capped := rapid.IntRange(0, len(list)-1).Draw(t, "capped")
		limit := rapid.Int64Range(0, free[capped]).Draw(t, "limit")
		list[capped].Max = &limit
		o, err := apportion.NewOrder(list)
		if err != nil {
			t.Fatalf("NewOrder: %v", err)
		}
		shares, unplaced := o.Shares(n)
		for c := range shares {
			if c != capped && shares[c] < free[c] {
				t.Fatalf("cluster %s lost seats (%d, was %d) to the maximum of %s", o.Name(c), shares[c], free[c], o.Name(capped))
			}
		}
		if shares[capped] != limit {
			t.Fatalf("share at the maximum = %d, want %d", shares[capped], limit)
		}
		if len(list) > 1 && unplaced != 0 {
			t.Fatalf("%d replicas unplaced although others have room", unplaced)
		}
	})
}

func TestMoreWeightNeverMeansFewerSeats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, o := drawOrder(t, rapid.SampledFrom([]bounds{bounded, parted}).Draw(t, "bounds"))
		n := rapid.Int64Range(0, 10_000).Draw(t, "n")
		before, _ := o.Shares(n)
		c := rapid.IntRange(0, len(list)-1).Draw(t, "cluster")
		list[c].Weight = rapid.Int64Range(list[c].Weight, apportion.MaxWeight).Draw(t, "new weight")
		o, err := apportion.NewOrder(list)
		if err != nil {
			t.Fatalf("NewOrder: %v", err)
		}
		if after, _ := o.Shares(n); after[c] < before[c] {
			t.Fatalf("cluster %s went from %d to %d seats", list[c].Name, before[c], after[c])
		}
	})
}

func TestSeatNumberIsThePositionInTheSeatOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, o := drawOrder(t, rapid.SampledFrom([]bounds{bounded, parted}).Draw(t, "bounds"))
		count := make([]int64, len(list))
		for seat, c := range o.Seats(200) {
			if got, ok := o.SeatNumber(int(c), count[c]); !ok || got != int64(seat) {
				t.Fatalf("SeatNumber(%d, %d) = %d, %t, want %d", c, count[c], got, ok, seat)
			}
			count[c]++
		}
		for c, cl := range list {
			if ok, _ := roomFor(cl, count[c]); ok {
				continue
			}
			if got, ok := o.SeatNumber(c, count[c]); ok {
				t.Fatalf("SeatNumber(%d, %d) = %d beyond the maximum", c, count[c], got)
			}
		}
	})
}

func TestSeatNumberAgreesWithSharesAtAnySize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, o := drawOrder(t, rapid.SampledFrom([]bounds{unbounded, bounded, parted, extreme}).Draw(t, "bounds"))
		c := rapid.IntRange(0, len(list)-1).Draw(t, "cluster")
		k := replicas().Draw(t, "k")
		seat, ok := o.SeatNumber(c, k)
		if !ok {
			// Then no int64 number of replicas gives the cluster so much.
			if shares, _ := o.Shares(math.MaxInt64); shares[c] > k {
				t.Fatalf("SeatNumber(%d, %d) found nothing, but the share can be %d", c, k, shares[c])
			}
			return
		}
		without, _ := o.Shares(seat)
		with, _ := o.Shares(seat + 1)
		if without[c] != k || with[c] != k+1 {
			t.Fatalf("seat %d: the cluster has %d seats before and %d after, want %d and %d", seat, without[c], with[c], k, k+1)
		}
	})
}

func TestRankingListsTheNextSeats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SampledFrom([]bounds{bounded, parted, extreme}).Draw(t, "bounds")
		list, o := drawOrder(t, b)
		held := make([]int64, len(list))
		var want []int32
		for i, c := range list {
			held[i] = rapid.OneOf(rapid.Int64Range(-1, 20), replicas().Filter(isNotEnd)).Draw(t, "held")
			if ok, _ := roomFor(c, max(held[i], 0)); ok {
				want = append(want, int32(i))
			}
		}
		slices.SortFunc(want, func(a, b int32) int {
			return compareSeats(list[a], max(held[a], 0), list[b], max(held[b], 0))
		})
		if diff := cmp.Diff(want, o.Ranking(held), cmp.Comparer(slices.Equal[[]int32])); diff != "" {
			t.Fatalf("ranking (-want +got):\n%s", diff)
		}
	})
}

// Two weights next to 2^31 and as many seats: the quotients agree in the first
// sixty digits, and a comparison in floating point sees a tie.
func TestNearTiesAreDecidedExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		near := rapid.Int64Range(math.MaxInt32-2, math.MaxInt32)
		seats := rapid.Int64Range(math.MaxInt32-2, math.MaxInt32+2)
		list := []apportion.Cluster{
			{Name: "a", Weight: near.Draw(t, "weight a")},
			{Name: "b", Weight: near.Draw(t, "weight b")},
		}
		o, err := apportion.NewOrder(list)
		if err != nil {
			t.Fatalf("NewOrder: %v", err)
		}
		held := []int64{seats.Draw(t, "seats a"), seats.Draw(t, "seats b")}
		want := []int32{0, 1}
		if compareSeats(list[0], held[0], list[1], held[1]) > 0 {
			want = []int32{1, 0}
		}
		if diff := cmp.Diff(want, o.Ranking(held)); diff != "" {
			t.Fatalf("ranking (-want +got):\n%s", diff)
		}
		// The last seat given is the later one of the two clusters' last seats.
		n := 2*int64(math.MaxInt32) + seats.Draw(t, "more")
		shares, _ := o.Shares(n)
		exact := new(big.Rat).SetFrac64(n, list[0].Weight+list[1].Weight)
		exact.Mul(exact, new(big.Rat).SetInt64(list[0].Weight))
		off := exact.Sub(exact, new(big.Rat).SetInt64(shares[0]))
		if off.Abs(off).Cmp(big.NewRat(1, 2)) > 0 {
			t.Fatalf("share of a is %d of %d, off by %s from its proportion", shares[0], n, off.FloatString(3))
		}
	})
}

// isNotEnd keeps a next seat within the numbers there are.
func isNotEnd(n int64) bool { return n < math.MaxInt64 }

func owners(o *apportion.Order, n int64) []string {
	seats := o.Seats(n)
	names := make([]string, 0, len(seats))
	for _, c := range seats {
		names = append(names, o.Name(int(c)))
	}
	return names
}

func TestOwnerOfIsTheOwnerInEveryPlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SampledFrom([]bounds{unbounded, bounded, parted, {maxMin: 300, maxRange: 3000, zero: true}}).Draw(t, "bounds")
		_, o := drawOrder(t, b)
		p := o.Plan(rapid.Int64Range(0, 5000).Draw(t, "n"))
		for range 20 {
			seat := rapid.Int64Range(-1, 5001).Draw(t, "seat")
			owner, found := o.OwnerOf(seat)
			if planned, ok := p.Owner(seat); ok && (!found || owner != planned) {
				t.Fatalf("the owner of seat %d is %d, %t, want %d", seat, owner, found, planned)
			}
			if beyond := seat < 0 || seat < p.Replicas() && seat >= int64(p.Len()); beyond && found {
				t.Fatalf("cluster %d owns seat %d, and there is none", owner, seat)
			}
		}
	})
}

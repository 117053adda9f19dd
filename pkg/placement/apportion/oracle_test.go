// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apportion_test

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/apportion"
)

// The oracle says the rule once more, in fractions and without any short cut.

// roomFor reports whether c has a seat beyond the first held, and whether that seat
// is part of its minimum.
func roomFor(c apportion.Cluster, held int64) (ok, inMin bool) {
	if held < c.Min {
		return true, true
	}
	return c.Weight > 0 && (c.Max == nil || held < *c.Max), false
}

// compareSeats reports whether seat s of cluster a comes before (-1) or after (1)
// seat t of cluster b. Both seats exist and differ.
func compareSeats(a apportion.Cluster, s int64, b apportion.Cluster, t int64) int {
	_, aInMin := roomFor(a, s)
	_, bInMin := roomFor(b, t)
	first := func(a, b bool) int {
		switch {
		case a == b:
			return 0
		case a:
			return -1
		}
		return 1
	}
	for _, order := range []int{
		cmp.Compare(a.Tier, b.Tier),
		first(aInMin, bInMin),
		first(aInMin && a.Turn > 0, bInMin && b.Turn > 0),
	} {
		if order != 0 {
			return order
		}
	}
	if aInMin && a.Turn > 0 {
		if a.Turn != b.Turn {
			return cmp.Compare(a.Turn, b.Turn)
		}
		// A cluster without a weight counts like one of weight 1.
		a.Weight, b.Weight = max(a.Weight, 1), max(b.Weight, 1)
	}
	return cmp.Or(quotient(b, t).Cmp(quotient(a, s)), cmp.Compare(s, t),
		cmp.Compare(a.Precedence, b.Precedence), strings.Compare(a.Name, b.Name))
}

func quotient(c apportion.Cluster, seats int64) *big.Rat {
	odd := new(big.Int).Add(new(big.Int).Lsh(big.NewInt(seats), 1), big.NewInt(1))
	return new(big.Rat).SetFrac(big.NewInt(c.Weight), odd)
}

// nextByOracle returns the cluster of the next seat, -1 if there is none.
func nextByOracle(clusters []apportion.Cluster, held []int64) int {
	best := -1
	for i, c := range clusters {
		if ok, _ := roomFor(c, held[i]); !ok {
			continue
		}
		if best < 0 || compareSeats(c, held[i], clusters[best], held[best]) < 0 {
			best = i
		}
	}
	return best
}

// seatsByOracle returns the owners of the first n seats.
func seatsByOracle(clusters []apportion.Cluster, n int64) []int32 {
	owners := []int32{}
	held := make([]int64, len(clusters))
	for range n {
		next := nextByOracle(clusters, held)
		if next < 0 {
			break
		}
		held[next]++
		owners = append(owners, int32(next))
	}
	return owners
}

// capacityOf returns how many seats the clusters have, math.MaxInt64 for no end.
func capacityOf(clusters []apportion.Cluster) int64 {
	total := new(big.Int)
	for _, c := range clusters {
		switch {
		case c.Weight == 0:
			total.Add(total, big.NewInt(c.Min))
		case c.Max == nil:
			return math.MaxInt64
		default:
			total.Add(total, big.NewInt(*c.Max))
		}
	}
	if !total.IsInt64() {
		return math.MaxInt64
	}
	return total.Int64()
}

// weights has small weights, in which ties are frequent, and weights near the
// upper end, in which quotients differ by next to nothing.
func weights() *rapid.Generator[int64] {
	return rapid.OneOf(
		rapid.Int64Range(1, 6),
		rapid.Int64Range(1, 1000),
		rapid.Int64Range(apportion.MaxWeight-3, apportion.MaxWeight),
		rapid.Custom(func(t *rapid.T) int64 {
			return apportion.MaxWeight >> rapid.IntRange(0, 30).Draw(t, "magnitude")
		}),
	)
}

// bounds says what minima and maxima the generated clusters have.
type bounds struct {
	maxMin   int64 // largest minimum
	maxRange int64 // largest distance of a maximum from its minimum; 0 for no maxima
	zero     bool  // some weights are 0
	parts    bool  // there are tiers, turns and precedences
}

var (
	unbounded = bounds{}
	bounded   = bounds{maxMin: 5, maxRange: 12, zero: true}
	parted    = bounds{maxMin: 5, maxRange: 12, zero: true, parts: true}
	extreme   = bounds{maxMin: math.MaxInt64 / 2, maxRange: math.MaxInt64 / 2, zero: true}
)

// clusters generates clusters in no particular order.
func clusters(b bounds) *rapid.Generator[[]apportion.Cluster] {
	return rapid.Custom(func(t *rapid.T) []apportion.Cluster {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z][a-z0-9-]{0,3}`), 1, 12, rapid.ID[string]).Draw(t, "names")
		list := make([]apportion.Cluster, len(names))
		for i, name := range names {
			list[i] = cluster(name, b).Draw(t, fmt.Sprintf("cluster %s", name))
		}
		return list
	})
}

func cluster(name string, b bounds) *rapid.Generator[apportion.Cluster] {
	return rapid.Custom(func(t *rapid.T) apportion.Cluster {
		c := apportion.Cluster{Name: name, Weight: weights().Draw(t, "weight")}
		if b.zero && rapid.IntRange(0, 7).Draw(t, "zero") == 0 {
			c.Weight = 0
		}
		if b.maxMin > 0 && rapid.Bool().Draw(t, "has min") {
			c.Min = rapid.Int64Range(0, b.maxMin).Draw(t, "min")
		}
		if b.maxRange > 0 && rapid.Bool().Draw(t, "has max") {
			c.Max = new(c.Min + rapid.Int64Range(0, b.maxRange).Draw(t, "range"))
		}
		if b.parts {
			c.Tier, c.Turn = rapid.Int32Range(0, 2).Draw(t, "tier"), rapid.Int32Range(0, 2).Draw(t, "turn")
			c.Precedence = rapid.Uint64Range(0, 2).Draw(t, "precedence")
		}
		return c
	})
}

// drawOrder draws clusters and makes their order.
func drawOrder(t *rapid.T, b bounds) ([]apportion.Cluster, *apportion.Order) {
	list := clusters(b).Draw(t, "clusters")
	o, err := apportion.NewOrder(list)
	if err != nil {
		t.Fatalf("NewOrder: %v", err)
	}
	return list, o
}

func sum(shares []int64) int64 {
	var s int64
	for _, n := range shares {
		s += n
	}
	return s
}

// shuffled returns a permutation of the list.
func shuffled[T any](t *rapid.T, list []T) []T {
	return rapid.Permutation(slices.Clone(list)).Draw(t, "permutation")
}

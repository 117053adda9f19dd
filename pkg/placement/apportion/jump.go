// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apportion

import (
	"cmp"
	"math/bits"
)

// jump returns the seats each member holds at some point of the stage not later
// than after its first take seats, and earlier by at most one seat per member
// plus one. It replaces counting up to take.
//
// All seats with weight/(2k-1) >= 1/(2t), where k counts from 1, come before all
// others. At this level t a member without bounds holds the k <= weight·t + 1/2,
// its exact proportion rounded to the nearest. Rounding changes the total by at
// most half a seat per member, so the level at which the exact proportions add
// up to half a seat per member less than wanted is never too high.
func (st *stage) jump(take uint64) []int64 {
	members := uint64(len(st.members))
	if take <= members {
		return st.start()
	}
	p, q := st.level(st.floor + take - (members+1)/2)
	seats := make([]int64, members)
	for i := range st.members {
		m := &st.members[i]
		seats[i] = clampSeats(roundedProportion(m.weight, p, q), m)
	}
	return seats
}

// level returns the t = p/q at which the proportions weight·t, each bounded by
// the range of its member, add up to total. The total is not smaller than the
// stage's floor, and smaller than the seats of all members together; so q > 0.
func (st *stage) level(total uint64) (p, q uint64) {
	settled, rising := st.floor, st.weight
	for _, k := range st.knees {
		// Up to this knee the sum is settled + rising·t.
		if compareProducts(rising, k.seats, total-settled, k.weight) > 0 {
			break
		}
		if k.joins {
			settled -= k.seats
			rising += k.weight
		} else {
			settled += k.seats
			rising -= k.weight
		}
	}
	return total - settled, rising
}

// roundedProportion returns weight·p/q rounded to the nearest integer, halves
// upwards, or unlimited if that is larger than any int64.
func roundedProportion(weight, p, q uint64) uint64 {
	hi, lo := bits.Mul64(2*weight, p)
	lo, carry := bits.Add64(lo, q, 0)
	hi += carry
	if hi >= 2*q {
		return unlimited
	}
	rounded, _ := bits.Div64(hi, lo, 2*q)
	return rounded
}

// knee is a level at which a member joins the rising or stops with it: it holds
// that many seats at the level seats/weight.
type knee struct {
	seats, weight uint64
	joins         bool
}

func (a knee) compare(b knee) int { return compareProducts(a.seats, b.weight, b.seats, a.weight) }

// compareProducts compares a·b with c·d.
func compareProducts(a, b, c, d uint64) int {
	abHi, abLo := bits.Mul64(a, b)
	cdHi, cdLo := bits.Mul64(c, d)
	return cmp.Or(cmp.Compare(abHi, cdHi), cmp.Compare(abLo, cdLo))
}

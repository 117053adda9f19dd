// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apportion

import (
	"cmp"
	"math/bits"
)

// jump returns how many seats each member holds shortly before the stage has
// given away its first take seats: at most one seat per member and one more are
// still to be given away, one by one, to reach take. It replaces counting up from
// the first seat.
//
// For example, weights 5 and 3 and the first 1000 seats. In exact proportion the
// members would hold 625 and 375. Whoever asks for so many runs two risks: that
// rounding gives away more than 1000 seats, and that the last ones are given away
// in another order. So jump asks for half a seat per member less, 999 in all:
// 624.375 and 374.625, rounded 624 and 375. One seat is left to be given away, and
// it goes to the first member.
//
// Why that is never too much: a level t stands for the point of the stage at which
// every seat with weight/(2k-1) >= 1/(2t) is given away and no other, where k
// counts the seats of a member from 1. Solved for k, a member without bounds holds
// weight·t + 1/2 seats then, rounded down, which is its exact proportion weight·t
// rounded to the nearest. Rounding adds at most half a seat per member.
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
// the range of its member, add up to total: for weights 5 and 3 and a total of 999
// it is 999/8. The total is not smaller than the stage's floor, and smaller than
// the seats of all members together; so q > 0.
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

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apportion

import "math/bits"

// claim is a cluster's demand for its next seat. Claims are ordered by
// weight/odd, where odd = 2·seats+1 and seats is what the cluster holds.
type claim struct {
	odd    uint64 // at most 2·(2^63-1)+1: fits
	weight uint32 // at least 1
	rank   int32  // position of the cluster among those it competes with
}

// newClaim returns the claim of a cluster that holds the given number of seats.
func newClaim(weight uint64, seats int64, rank int32) claim {
	return claim{odd: 2*uint64(seats) + 1, weight: uint32(weight), rank: rank}
}

// behind returns 1 if b is served before a, else 0. It is exact: the quotients
// are compared crosswise, in products of 128 bits. The result is a number, made
// without a branch, because the outcome is as good as random in a heap and a
// wrongly predicted branch would cost more than the products.
func (a *claim) behind(b *claim) int {
	aHi, aLo := bits.Mul64(uint64(a.weight), b.odd)
	bHi, bLo := bits.Mul64(uint64(b.weight), a.odd)
	if aHi == bHi && aLo == bLo {
		if b.odd < a.odd || b.odd == a.odd && b.rank < a.rank {
			return 1
		}
		return 0
	}
	_, less := bits.Sub64(aLo, bLo, 0)
	_, less = bits.Sub64(aHi, bHi, less)
	return int(less)
}

// served returns how many seats a competitor that started with none, and has no
// limit, holds when a is served.
func (a *claim) served(weight uint64, rank int32) uint64 {
	// Its seat s, counted from 0, is ahead if (2s+1)/weight < odd/a.weight, that
	// is if 2s+1 < x = weight·odd/a.weight.
	hi, lo := bits.Mul64(weight, a.odd)
	if hi >= uint64(a.weight) {
		return unlimited
	}
	x, rest := bits.Div64(hi, lo, uint64(a.weight))
	if rest > 0 {
		return x/2 + x%2
	}
	ahead := x / 2
	if tie := (claim{odd: x, weight: uint32(weight), rank: rank}); x%2 == 1 && a.behind(&tie) == 1 {
		ahead++
	}
	return ahead
}

// claims is a binary heap whose first element is served next. The ranks are
// positions in the stage's members.
type claims []claim

// newClaims returns the heap of a stage whose members hold the given seats.
func newClaims(members []member, seats []int64) claims {
	h := make(claims, 0, len(members))
	for i := range members {
		if m := &members[i]; seats[i] < m.to {
			h = append(h, newClaim(m.weight, seats[i], int32(i)))
		}
	}
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.sink(i)
	}
	return h
}

// next gives a seat to the first claim and returns the position of its member.
// There must be one.
func (h *claims) next(members []member) int32 {
	first := &(*h)[0]
	position := first.rank
	first.odd += 2
	if first.odd>>1 == uint64(members[position].to) {
		last := len(*h) - 1
		(*h)[0] = (*h)[last]
		*h = (*h)[:last]
	}
	h.sink(0)
	return position
}

// sink restores the heap below i, where the claim has become weaker.
func (h claims) sink(i int) {
	if i >= len(h) {
		return
	}
	c := h[i]
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) {
			child += h[child].behind(&h[child+1])
		}
		if c.behind(&h[child]) == 0 {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = c
}

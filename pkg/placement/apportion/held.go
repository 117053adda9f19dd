// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apportion

// Held counts the replicas of one workload in one cluster by their seats. Two
// replicas may hold the same seat for a while, and a replica may hold no seat at
// all: any number outside 0..MaxSeats-1 means that. The zero value is empty and
// ready for use; a nil *Held is empty and cannot be changed.
//
// Held is not safe for concurrent use.
type Held struct {
	replicas int
	words    []uint64      // a bit for each seat that is held
	more     map[int32]int // holders beyond the first, of seats with several
	seatless int
}

// Add counts a replica on a seat.
func (h *Held) Add(seat int64) {
	h.replicas++
	switch {
	case seat < 0 || seat >= MaxSeats:
		h.seatless++
	case h.Has(seat):
		if h.more == nil {
			h.more = map[int32]int{}
		}
		h.more[int32(seat)]++
	default:
		if missing := int(seat/64) + 1 - len(h.words); missing > 0 {
			h.words = append(h.words, make([]uint64, missing)...)
		}
		h.words[seat/64] |= 1 << (seat % 64)
	}
}

// Remove takes back one Add of the same seat, and reports false if there was
// none left to take back.
func (h *Held) Remove(seat int64) bool {
	switch {
	case seat < 0 || seat >= MaxSeats:
		if h.seatless == 0 {
			return false
		}
		h.seatless--
	case !h.Has(seat):
		return false
	case h.more[int32(seat)] > 1:
		h.more[int32(seat)]--
	case h.more[int32(seat)] == 1:
		delete(h.more, int32(seat))
	default:
		h.words[seat/64] &^= 1 << (seat % 64)
	}
	h.replicas--
	return true
}

// Has reports whether a replica holds the seat.
func (h *Held) Has(seat int64) bool {
	if h == nil || seat < 0 || seat/64 >= int64(len(h.words)) {
		return false
	}
	return h.words[seat/64]&(1<<(seat%64)) != 0
}

// Len returns the number of replicas, with or without a seat.
func (h *Held) Len() int {
	if h == nil {
		return 0
	}
	return h.replicas
}

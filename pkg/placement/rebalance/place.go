// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rebalance

import "math"

// Place says where a pod stands in the order in which its workload shrinks: the pod with the
// largest place goes first. A pod that gets a seat gets the place PlaceOf the seat, and keeps it as
// long as the order is right, even if the number of its seat changes because others come or go.
// What comes between two pods gets a place between theirs.
type Place int32

const (
	// NoPlace is the place of a pod beyond the share of its cluster, which goes before all others.
	NoPlace Place = -1

	// MaxPlace is the largest place.
	MaxPlace Place = math.MaxInt32

	// Spacing is how far apart the places of two seats are that follow each other. The places of
	// all seats that a plan can have use up half of the places that there are.
	Spacing = 1000
)

// PlaceOf returns the place that belongs to a seat, NoPlace for NoSeat. Seats that no plan can
// have, as the numbers of pods can be, share MaxPlace.
func PlaceOf(seat int32) Place {
	if seat < 0 {
		return NoPlace
	}
	return Place(min(int64(seat)*Spacing, int64(MaxPlace)))
}

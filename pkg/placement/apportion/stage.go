// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apportion

import (
	"maps"
	"slices"
)

// phase says which part of the seat order a cluster's next seat belongs to; parts
// come in the order of their numbers. Each tier has all of them, one after the
// other: the minima of those that have a turn, turn by turn, then the following.
type phase int64

const (
	belowMin           phase = maxTurn + 1 + iota // the minimum of a cluster that has a weight
	belowMinUnweighted                            // the minimum of a cluster of weight 0
	belowMax                                      // what exceeds the minimum
	phases                                        // of a tier

	done phase = unlimited // the cluster gets no further seat
)

// phase returns where the next seat of a cluster that holds the given seats lies.
func (b *bounds) phase(seats int64) phase {
	first := phase(b.tier) * phases
	switch {
	case seats < b.min && b.turn > 0:
		return first + phase(b.turn)
	case seats < b.min && b.weight > 0:
		return first + belowMin
	case seats < b.min:
		return first + belowMinUnweighted
	case seats < b.max && b.weight > 0:
		return first + belowMax
	default:
		return done
	}
}

// most returns the number of seats after which the cluster gets none.
func (b *bounds) most() int64 {
	if b.weight == 0 {
		return b.min
	}
	return b.max
}

// claim returns the cluster's claim on its next seat among clusters of the same
// phase. Clusters of weight 0 are alike, so fewer seats and the name decide, as
// they do among equal weights.
func (b *bounds) claim(seats int64) claim {
	return newClaim(max(b.weight, 1), seats, b.rank)
}

// stage is a run of the seat order in which a fixed set of members compete by
// Webster's rule until each has filled its range of seats.
type stage struct {
	members []member // in the order of their ranks
	size    int64    // seats of the stage; unlimited if they do not fit an int64
	floor   uint64   // seats the members bring along: the sum of from
	weight  uint64   // of the members that bring none
	knees   []knee
}

// member is a cluster's part in a stage: its seats from (inclusive) to
// (exclusive), counted from 0.
type member struct {
	cluster  int32
	weight   uint64 // at least 1
	from, to int64  // from < to
}

// newStages returns the non-empty stages of the seat order, one for each phase.
func newStages(clusters []bounds, byRank []int32) []stage {
	members := map[phase][]member{}
	for _, i := range byRank {
		c := &clusters[i]
		if c.min > 0 {
			p := c.phase(0)
			members[p] = append(members[p], member{cluster: i, weight: max(c.weight, 1), to: c.min})
		}
		if p := c.phase(c.min); p != done {
			members[p] = append(members[p], member{cluster: i, weight: c.weight, from: c.min, to: c.max})
		}
	}
	stages := make([]stage, 0, len(members))
	for _, p := range slices.Sorted(maps.Keys(members)) {
		stages = append(stages, newStage(members[p]))
	}
	return stages
}

func newStage(members []member) stage {
	st := stage{members: members}
	for i := range members {
		m := &members[i]
		st.size = addSaturated(st.size, m.to-m.from)
		if m.from == 0 {
			st.weight += m.weight
		} else {
			st.floor += uint64(m.from)
			st.knees = append(st.knees, knee{seats: uint64(m.from), weight: m.weight, joins: true})
		}
		if m.to != unlimited {
			st.knees = append(st.knees, knee{seats: uint64(m.to), weight: m.weight})
		}
	}
	slices.SortFunc(st.knees, knee.compare)
	return st
}

// share adds the members' parts of the stage's first take seats to shares, which
// is indexed by cluster; take is not larger than the size of the stage.
func (st *stage) share(take int64, shares []int64) {
	for i, seats := range st.first(take) {
		m := &st.members[i]
		shares[m.cluster] += seats - m.from
	}
}

// first returns the seats that each member holds after the stage's first take
// seats; take is not larger than the size of the stage.
func (st *stage) first(take int64) []int64 {
	seats := st.jump(uint64(take))
	for i := range st.members {
		take -= seats[i] - st.members[i].from
	}
	queue := newClaims(st.members, seats)
	for ; take > 0; take-- {
		seats[queue.next(st.members)]++
	}
	return seats
}

// appendOwners appends the clusters of the stage's first take seats, in order;
// take is not larger than the size of the stage.
func (st *stage) appendOwners(owners []int32, take int) []int32 {
	if take == 0 {
		return owners
	}
	queue := newClaims(st.members, st.start())
	for ; take > 0; take-- {
		owners = append(owners, st.members[queue.next(st.members)].cluster)
	}
	return owners
}

// start returns the seats that each member holds when the stage begins.
func (st *stage) start() []int64 {
	seats := make([]int64, len(st.members))
	for i := range st.members {
		seats[i] = st.members[i].from
	}
	return seats
}

// find returns the position of the cluster's member if the stage holds the
// cluster's k-th seat.
func (st *stage) find(cluster int32, k int64) (position int, ok bool) {
	position = slices.IndexFunc(st.members, func(m member) bool {
		return m.cluster == cluster && m.from <= k && k < m.to
	})
	return position, position >= 0
}

// countBefore returns how many seats of the stage come before the seat k of the
// member at position.
func (st *stage) countBefore(position int, k int64) int64 {
	mine := newClaim(st.members[position].weight, k, int32(position))
	count := k - st.members[position].from
	for i := range st.members {
		if i == position {
			continue
		}
		m := &st.members[i]
		seats := clampSeats(mine.served(m.weight, int32(i)), m)
		count = addSaturated(count, seats-m.from)
	}
	return count
}

// clampSeats bounds a number of seats by the range of the member.
func clampSeats(seats uint64, m *member) int64 {
	return int64(max(min(seats, uint64(m.to)), uint64(m.from)))
}

// addSaturated returns a+b for a, b >= 0, or unlimited if the sum does not fit.
func addSaturated(a, b int64) int64 {
	if a > unlimited-b {
		return unlimited
	}
	return a + b
}

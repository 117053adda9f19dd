// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rebalance

import (
	"cmp"
	"math"
	"slices"
)

// pairLimit bounds how many pairs of a pod and a seat are tried.
const pairLimit = 1 << 20

// pair is a pod that may keep its place as the holder of a seat.
type pair struct {
	pod, seat int32
	// slack is the place less the seat. Where it does not fall from one pod to the next, there are
	// places for all seats between them.
	slack int32
	// before is the pair in front of it in the longest row that ends here, -1 if it is the first.
	before int32
}

// keep seats the pods that keep their place, and reports which they are.
func (s *seating) keep() []bool {
	placed := s.placed()
	row := s.exact(placed)
	for _, find := range []func([]int32) []pair{s.first, s.longest} {
		if len(row) == len(placed) {
			break
		}
		if other := find(placed); len(other) > len(row) {
			row = other
		}
	}
	kept := make([]bool, len(s.pods))
	for _, p := range row {
		kept[p.pod], s.seats[p.pod], s.places[p.pod] = true, p.seat, s.pods[p.pod].Place
		s.taken.Set(p.seat)
	}
	return kept
}

// placed returns the pods that have a place, in the order of their places, the older ones first.
func (s *seating) placed() []int32 {
	var placed []int32
	turn := make([]int32, len(s.pods))
	for n, i := range s.byAge {
		if turn[i] = int32(n); s.ranks(i) && s.pods[i].Place >= 0 {
			placed = append(placed, int32(i))
		}
	}
	slices.SortFunc(placed, func(a, b int32) int {
		return cmp.Or(cmp.Compare(s.pods[a].Place, s.pods[b].Place), cmp.Compare(turn[a], turn[b]))
	})
	return placed
}

func (s *seating) pair(pod, seat int32) pair {
	return pair{pod: pod, seat: seat, slack: int32(s.pods[pod].Place) - seat, before: -1}
}

// fits reports whether there are places for the seats before and after the pair.
func (s *seating) fits(p pair) bool {
	return p.slack >= 0 && p.slack <= math.MaxInt32-int32(s.plan.Len())
}

// exact returns the pods that have the place of a seat which their cluster owns: all of them, as
// long as the order is the one that they were placed by.
func (s *seating) exact(placed []int32) []pair {
	var row []pair
	for _, pod := range placed {
		place := s.pods[pod].Place
		seat := int32(place / Spacing)
		twice := len(row) > 0 && row[len(row)-1].seat == seat
		if place%Spacing == 0 && !twice && !s.taken.Has(seat) && s.owns(s.pods[pod].Cluster, seat) {
			row = append(row, s.pair(pod, seat))
		}
	}
	return row
}

// first gives each pod, one after the other, the first seat of its cluster that is behind that of
// the pod before. It returns nil unless all can be served so, which is the case once the order is
// right, whatever the numbers are.
func (s *seating) first(placed []int32) []pair {
	row := make([]pair, 0, len(placed))
	from, slack, position := int32(0), int32(0), map[int]int{}
	for _, pod := range placed {
		cluster := s.pods[pod].Cluster
		seats, k := s.plan.SeatsOf(cluster), position[cluster]
		for k < len(seats) && (seats[k] < from || s.taken.Has(seats[k])) {
			k++
		}
		if k == len(seats) {
			return nil
		}
		position[cluster] = k + 1
		p := s.pair(pod, seats[k])
		if !s.fits(p) || p.slack < slack {
			return nil
		}
		row, from, slack = append(row, p), p.seat+1, p.slack
	}
	return row
}

// longest returns as many pods as can keep their places: a longest row of pairs in which both the
// seats rise and the places, by enough for the seats between. It is found as a longest
// non-decreasing subsequence is, with the seats in order and the slack as value.
func (s *seating) longest(placed []int32) []pair {
	pairs := s.pairs(placed)
	var ends []int32 // by length: the pair with the least slack that ends a row of that length
	for i := range pairs {
		at, _ := slices.BinarySearchFunc(ends, pairs[i].slack, func(end, slack int32) int {
			if pairs[end].slack <= slack {
				return -1
			}
			return 1
		})
		if at > 0 {
			pairs[i].before = ends[at-1]
		}
		if at == len(ends) {
			ends = append(ends, int32(i))
		} else {
			ends[at] = int32(i)
		}
	}
	row := make([]pair, len(ends))
	for n, i := len(ends)-1, int32(-1); n >= 0; n-- {
		if i < 0 {
			i = ends[n]
		}
		row[n] = pairs[i]
		i = pairs[i].before
	}
	return row
}

// pairs returns which pod may have which seat, by ascending seats; of one seat the largest slack
// first, so that a row cannot have it twice. Where all pairs would be too many, a pod is tried with
// the seats that are nearest in number only. Of pods of one cluster with one place the oldest is
// tried.
func (s *seating) pairs(placed []int32) []pair {
	pods := map[int][]int32{}
	for _, pod := range placed {
		cluster, place := s.pods[pod].Cluster, s.pods[pod].Place
		if of := pods[cluster]; len(of) == 0 || s.pods[of[len(of)-1]].Place < place {
			pods[cluster] = append(of, pod)
		}
	}
	all := 0
	for cluster, of := range pods {
		all += len(of) * s.plan.Share(cluster)
	}
	reach := len(placed)
	if all > pairLimit {
		reach = pairLimit / (2 * len(placed))
	}
	pairs := make([]pair, 0, min(all, pairLimit+len(placed)))
	met := map[int]int{}
	for seat := range int32(s.plan.Len()) {
		cluster, _ := s.plan.Owner(int64(seat))
		of := pods[cluster]
		if len(of) == 0 || s.taken.Has(seat) {
			continue
		}
		k := met[cluster]
		met[cluster]++
		for j := min(k+reach, len(of)-1); j >= max(0, k-reach); j-- {
			if p := s.pair(of[j], seat); s.fits(p) {
				pairs = append(pairs, p)
			}
		}
	}
	return pairs
}

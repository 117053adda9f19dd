// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rebalance

import (
	"cmp"
	"slices"
)

// row is the seated pods in the order of their seats, some of which keep their places.
type row struct {
	*seating
	order []int
	kept  []bool
}

// spread finds places for the pods that have a seat and do not keep the place they had.
func (s *seating) spread(kept []bool) {
	r := &row{seating: s, kept: kept}
	for i, seat := range s.seats {
		if seat != NoSeat {
			r.order = append(r.order, i)
		}
	}
	slices.SortFunc(r.order, func(a, b int) int { return cmp.Compare(s.seats[a], s.seats[b]) })
	for i := 0; i < len(r.order); {
		if r.kept[r.order[i]] {
			i++
			continue
		}
		from, to := r.widen(i, r.end(i))
		r.place(from, to)
		i = to
	}
}

// end returns where the pods end that follow the i-th and keep no place.
func (r *row) end(i int) int {
	for i < len(r.order) && !r.kept[r.order[i]] {
		i++
	}
	return i
}

// gap is what lies between two pods whose places stand: as many seats as there are steps from one
// to the other. An open one has no pod at its end.
type gap struct {
	seat  int32
	place int64
	steps int64
	room  int64
	open  bool
}

// between returns the gap around the pods from one index to before another one.
func (r *row) between(from, to int) gap {
	g := gap{seat: NoSeat, place: int64(NoPlace)}
	if from > 0 {
		before := r.order[from-1]
		g.seat, g.place = r.seats[before], int64(r.places[before])
	}
	last, end := int64(r.plan.Len()), int64(MaxPlace)+1
	if to < len(r.order) {
		last, end = int64(r.seats[r.order[to]]), int64(r.places[r.order[to]])
	} else {
		g.open = true
	}
	g.steps, g.room = last-int64(g.seat), end-g.place
	return g
}

// regular reports whether all seats in the gap can have the places that belong to them.
func (g gap) regular() bool {
	last := int64(g.seat) + g.steps - 1
	return (int64(g.seat)+1)*Spacing > g.place && (g.open || last*Spacing < g.place+g.room)
}

// tight reports whether so many places should rather be spread over more of the order. The wider
// the gap, the more room there has to be in it: so it takes many pods that come to one point before
// others have to make way again.
func (g gap) tight() bool {
	each := g.room / g.steps
	return !g.regular() && 16*each*each < g.steps
}

// at returns the place of a seat in the gap.
func (g gap) at(seat int32) Place {
	switch n := int64(seat) - int64(g.seat); {
	case g.regular():
		return PlaceOf(seat)
	case g.open:
		return Place(g.place + n*min(Spacing, g.room/g.steps))
	default:
		return Place(g.place + g.room*n/g.steps)
	}
}

// widen takes away the places of neighbours until there is enough room.
func (r *row) widen(from, to int) (wideFrom, wideTo int) {
	for r.between(from, to).tight() && (from > 0 || to < len(r.order)) {
		if from > 0 {
			from--
			r.kept[r.order[from]] = false
		}
		if to < len(r.order) {
			r.kept[r.order[to]] = false
			to = r.end(to)
		}
	}
	return from, to
}

// place gives places to the pods from one index to before another one.
func (r *row) place(from, to int) {
	g := r.between(from, to)
	for _, i := range r.order[from:to] {
		r.places[i] = g.at(r.seats[i])
	}
	if int64(len(r.pods)) < r.plan.Replicas() {
		r.leaveSeats(from, to)
	}
}

// leaveSeats moves the pods from one index to before another one off the places that belong to
// seats, towards the next pod, as far as there is room. It leaves their order as it is.
func (r *row) leaveSeats(from, to int) {
	next := int64(MaxPlace) + 1
	if to < len(r.order) {
		next = int64(r.places[r.order[to]])
	}
	for k := to - 1; k >= from; k-- {
		place := &r.places[r.order[k]]
		if *place%Spacing == 0 {
			*place += Place(min(Spacing, next-int64(*place)) / 2)
		}
		next = int64(*place)
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	"berth.dev/berth/pkg/placement/admit"
	"berth.dev/berth/pkg/placement/apportion"
)

// Share is one revision of a workload with its policy. Clusters are referred to by their
// index in the Order.
type Share struct {
	// Order is the seat order of the policy.
	Order *apportion.Order
	// Plan holds the seats of the replicas that are wanted, nil if their number is not known.
	Plan *apportion.Plan
	// Held is the number of replicas that run in each cluster.
	Held []int32
	// Homes is the scheduler of each cluster, empty for a cluster that none looks after.
	Homes []string
	// Admitted reports whether a cluster meets the constraints of the pods and the policy;
	// nil stands for all.
	Admitted []bool
}

// Seats are the seats of a Share that are free, by the scheduler that can give them.
type Seats struct {
	share *Share
	homes sets.Set[string]
	free  map[string]int
	turn  string
}

// NewSeats returns the free seats of a share.
func NewSeats(share *Share) *Seats {
	s := &Seats{share: share, homes: sets.Set[string]{}, free: map[string]int{}}
	eligible := make([]bool, len(share.Homes))
	for i, h := range share.Homes {
		if h != "" && (share.Admitted == nil || share.Admitted[i]) {
			eligible[i] = true
			s.homes.Insert(h)
		}
	}
	// A cluster of the policy that some scheduler looks after counts as one where the pod
	// fits: that scheduler finds out more.
	admission := admit.Answer(&admit.Question{
		Order: share.Order, Plan: share.Plan, Seat: admit.NoSeat, Held: slices.Clone(share.Held), Eligible: eligible, Strict: true,
	})
	first := admit.None
	for i, h := range share.Homes {
		switch cluster := int32(i); {
		case share.Plan == nil && admission.Prefers(cluster, first):
			first, s.turn = cluster, h
		case share.Plan != nil && admission.Admits(cluster):
			s.free[h] += int(admission.Free[i])
		}
	}
	return s
}

// Homes returns the schedulers that look after clusters of the policy.
func (s *Seats) Homes() sets.Set[string] {
	return s.homes
}

// Seat gives pods of one revision to the homes of free seats, and returns those for which
// none is known to be free.
func (r *Round) Seat(pods []*Pod, seats *Seats) (rest []*Pod) {
	// Whoever has a home with a free seat keeps it, so they come first.
	elsewhere := func(p *Pod) int {
		if seats.homes.Has(r.home(p)) {
			return 0
		}
		return 1
	}
	for _, p := range slices.SortedStableFunc(slices.Values(pods), func(a, b *Pod) int { return elsewhere(a) - elsewhere(b) }) {
		if to := r.homeOfSeat(p, seats); to != "" {
			r.assign(p, to)
		} else {
			rest = append(rest, p)
		}
	}
	return rest
}

// homeOfSeat returns the home of a seat for the pod, which it takes up, empty if no seat is
// known to be free.
func (r *Round) homeOfSeat(p *Pod, s *Seats) string {
	present := r.home(p)
	switch {
	case p.Seat >= 0:
		if owner, found := s.share.Order.OwnerOf(int64(p.Seat)); found {
			return s.share.Homes[owner]
		}
		return ""
	case s.share.Plan != nil:
		return r.freeSeat(present, s)
	case s.homes.Has(present) && !r.inVain(p):
		return present
	case s.turn == present:
		return "" // it was tried there in vain
	default:
		return s.turn
	}
}

// freeSeat takes up a free seat at the present home, or at the home with most of them.
func (r *Round) freeSeat(present string, s *Seats) string {
	best := present
	if s.free[best] <= 0 {
		for i := range r.schedulers {
			if name := r.schedulers[i].Name; s.free[name] > s.free[best] {
				best = name
			}
		}
	}
	if s.free[best] <= 0 {
		return ""
	}
	s.free[best]--
	return best
}

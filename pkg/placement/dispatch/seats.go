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
	// Room reports whether a cluster has a node that takes one of the pods now. It is nil if that was
	// not asked, which is worth it if one of them [Round.Fails].
	Room []bool
	// Strict is true if a pod waits for a seat, even if there is room elsewhere.
	Strict bool
}

// Seats are the seats of a Share that are free, by the scheduler that can give them.
type Seats struct {
	share *Share
	homes sets.Set[string]
	free  map[string]int
	turn  string
	// room are those of free whose clusters have room; by turn it is the larger the earlier the turn.
	room map[string]int
}

// NewSeats returns the free seats of a share.
func NewSeats(share *Share) *Seats {
	s := &Seats{share: share, homes: sets.Set[string]{}, free: map[string]int{}, room: map[string]int{}}
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
	if share.Plan == nil {
		s.takeTurns(&admission)
	} else {
		s.countFree(&admission)
	}
	return s
}

// takeTurns finds whose turn it is, and who of those with room comes when.
func (s *Seats) takeTurns(admission *admit.Admission) {
	first := admit.None
	for i, h := range s.share.Homes {
		if cluster := int32(i); admission.Prefers(cluster, first) {
			first, s.turn = cluster, h
		}
		if s.share.Room != nil && s.share.Room[i] {
			s.room[h] = max(s.room[h], int(admission.Free[i]))
		}
	}
}

// countFree counts the free seats of each home, and those in clusters with room.
func (s *Seats) countFree(admission *admit.Admission) {
	for i, h := range s.share.Homes {
		if !admission.Admits(int32(i)) {
			continue
		}
		s.free[h] += int(admission.Free[i])
		if s.share.Room != nil && s.share.Room[i] {
			s.room[h] += int(admission.Free[i])
		}
	}
}

// Homes returns the schedulers that look after clusters of the policy.
func (s *Seats) Homes() sets.Set[string] {
	return s.homes
}

// Seat gives pods of one revision to the homes of free seats, and returns those for which
// none is known to be free.
func (r *Round) Seat(pods []*Pod, seats *Seats) (rest []*Pod) {
	for _, p := range slices.SortedStableFunc(slices.Values(pods), func(a, b *Pod) int { return r.rank(a, seats) - r.rank(b, seats) }) {
		if r.failsFor(p, seats) {
			r.answered.Insert(p.UID)
		}
		if to := r.homeOfSeat(p, seats); to != "" {
			r.assign(p, to)
		} else {
			rest = append(rest, p)
		}
	}
	return rest
}

// failsFor reports whether a pod finds no node where it is and the room of the homes is known, so
// that it may go where there is some.
func (r *Round) failsFor(p *Pod, s *Seats) bool { return s.share.Room != nil && r.Fails(p) }

// rank orders the pods that want seats. Whoever has a home with a free seat keeps it, so they come
// first, and before those that would leave theirs for it.
func (r *Round) rank(p *Pod, s *Seats) int {
	present := r.home(p)
	switch {
	case !s.homes.Has(present):
		return 2
	case s.room[present] <= 0 && r.failsFor(p, s):
		return 1
	default:
		return 0
	}
}

// homeOfSeat returns the home of a seat for the pod, which it takes up, empty if no seat is
// known to be free.
func (r *Round) homeOfSeat(p *Pod, s *Seats) string {
	present := r.home(p)
	if to := r.homeWithRoom(p, s); to != "" {
		return to
	}
	switch {
	case !s.share.Strict && r.looksFurther(p):
		return ""
	case p.Seat >= 0:
		if owner, found := s.share.Order.OwnerOf(int64(p.Seat)); found {
			return s.share.Homes[owner]
		}
		return ""
	case s.share.Plan != nil:
		return r.takeUp(present, s.free, s)
	case s.homes.Has(present) && !r.inVain(p, s.homes):
		return present
	case !r.untried(p, s.homes).Has(s.turn):
		return "" // it was tried there in vain
	default:
		return s.turn
	}
}

// homeWithRoom returns the home of a free seat whose cluster has room, empty if the home of the pod
// does not fail, or nobody is known to have such a seat.
func (r *Round) homeWithRoom(p *Pod, s *Seats) string {
	if p.Seat >= 0 || !r.failsFor(p, s) {
		return ""
	}
	return r.takeUp(r.home(p), s.room, s)
}

// looksFurther reports whether a pod that may run outside of its seat was tried in vain at a home
// that it was given, or long enough at the one that it had.
func (r *Round) looksFurther(p *Pod) bool {
	w := r.before[p.UID]
	return r.Fails(p) || p.Unschedulable && w.Home == r.home(p) && w.Tries > 0
}

// takeUp takes up one of the seats that count, at the present home, or at the home with most of
// them. It returns that home, empty if there is no such seat.
func (r *Round) takeUp(present string, count map[string]int, s *Seats) string {
	best := present
	if count[best] <= 0 {
		for i := range r.schedulers {
			if name := r.schedulers[i].Name; count[name] > count[best] {
				best = name
			}
		}
	}
	if count[best] <= 0 {
		return ""
	}
	if s.share.Plan != nil {
		s.free[best]--
		s.room[best]--
	}
	return best
}

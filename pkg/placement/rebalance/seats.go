// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rebalance

import (
	"cmp"
	"slices"
	"time"

	"berth.dev/berth/pkg/placement/apportion"
)

const (
	// NoSeat is the seat of a pod beyond the share of its cluster.
	NoSeat int32 = -1

	// Elsewhere is the cluster of a pod that runs in none of the policy's clusters.
	Elsewhere = -1
)

// Replica is a bound replica: not terminating, not finished, and of the revision of the workload
// that counts.
type Replica struct {
	// Name breaks ties.
	Name string
	// Cluster is the index in the seat order of the cluster that the pod's node belongs to, or
	// Elsewhere.
	Cluster int
	// Place is where the pod stands in the order in which the workload shrinks, or NoPlace. Of a
	// Fixed pod it means nothing.
	Place Place
	// Seat is the number of a Fixed pod.
	Seat int32
	// Fixed means that the seat is the number the workload's controller gave the pod: it cannot
	// have another one, and when it is made anew it goes to the cluster that owns it.
	Fixed bool
	// Cost is the deletion cost of the pod: of two pods, the workload's controller deletes that
	// with the lower cost first.
	Cost int64
	// Ready reports whether the pod serves.
	Ready bool
	// Age is how long the pod has been running.
	Age time.Duration
	// Keep says why the pod must not be evicted. Movable, the zero value, means that it may be.
	Keep Keep
	// Asked reports whether an eviction of the pod was asked for that had no clear answer: it may go
	// at any time.
	Asked bool
	// Unwanted reports whether somebody wants no pods where it is.
	Unwanted bool
	// Fits reports whether a node of the cluster that owns the seat would take the pod now. It is
	// read for Fixed pods only: for the others the room of the clusters counts.
	Fits bool
}

// Keep says why a pod must not be evicted.
type Keep int

const (
	// Movable pods may be evicted.
	Movable Keep = iota
	// NotOurs pods were not placed by Berth: they carry no valid stamp. They get no seat.
	NotOurs
	// TakenOver pods were placed by another policy than the one in force, or by none. They are to be
	// given to it before they may be evicted.
	TakenOver
	// Protected pods are critical to the system, or are marked as not safe to evict.
	Protected
	// Unreachable pods run on a node that is not ready, or has vanished: nobody can tell whether
	// they still serve.
	Unreachable
	// Refused pods have a PodDisruptionBudget that refused to let them go a short while ago.
	Refused
	// Failing pods could not be evicted a short while ago, for another reason.
	Failing
	// Cordoned pods run in a cluster that takes no new pods and keeps those it has.
	Cordoned
	// Excluded pods run in a cluster that does not meet the constraints of the policy, and stay there.
	Excluded
	// Returning pods run in a cluster that was left because it was offline, and is online again.
	Returning
)

// Places returns the place that each pod should have, by the index of the pod. Put in the order of
// their places, the pods are in clusters as the seat order says: the first n of them are the shares
// of n replicas. As many pods as can be keep the place that they have. The others get the lowest
// free seats of their cluster, the oldest first, and those that find none get NoPlace.
//
// Where few change, few get another place: if clusters come or go, hardly more than there are pods
// to come or go with them. Of more than a thousand replicas that are in a wholly different order
// some may get another place that need not.
//
// Fixed pods have the place of their number if their cluster owns it. Pods that are NotOurs get
// none, but take up the lowest seats of their cluster: they have no deletion cost, so they are the
// last to be deleted when the workload shrinks.
//
// While there are fewer pods than the plan has replicas, one may be on its way to a node with a
// seat that nobody else knows of. So a pod gets a place between two seats then, 3.5 in place of 3:
// the seats themselves are given to pods that come. While there are more pods than replicas the
// workload's controller is about to delete some by the places they have now, so these must be left
// alone then.
func Places(plan *apportion.Plan, pods []Replica) []Place {
	s := newSeating(plan, pods)
	s.seatNumbers()
	s.seatStrangers()
	kept := s.keep()
	s.fill()
	s.spread(kept)
	return s.places
}

// seating is the state of one call of Places.
type seating struct {
	plan   *apportion.Plan
	pods   []Replica
	places []Place
	// seats are those of the pods, by their index, and taken all that somebody has.
	seats []int32
	taken bitset
	// byAge are the pods, the oldest first.
	byAge []int
	// next is, by cluster, the position in its list of seats before which all are taken.
	next map[int]int
}

func newSeating(plan *apportion.Plan, pods []Replica) *seating {
	s := &seating{
		plan: plan, pods: pods, places: make([]Place, len(pods)), seats: make([]int32, len(pods)),
		byAge: make([]int, len(pods)), next: map[int]int{},
	}
	for i := range pods {
		s.places[i], s.seats[i], s.byAge[i] = NoPlace, NoSeat, i
	}
	slices.SortFunc(s.byAge, func(a, b int) int {
		return cmp.Or(cmp.Compare(pods[b].Age, pods[a].Age), cmp.Compare(pods[a].Name, pods[b].Name))
	})
	s.taken.Grow(plan.Len())
	return s
}

// seatNumbers puts the pods with a number on it where their cluster owns it. The number is nobody
// else's in any case.
func (s *seating) seatNumbers() {
	for i := range s.pods {
		p := &s.pods[i]
		if !p.Fixed {
			continue
		}
		s.taken.Set(p.Seat)
		if s.owns(p.Cluster, p.Seat) {
			s.places[i] = PlaceOf(p.Seat)
		}
	}
}

// seatStrangers gives up the lowest seats to pods that are not Berth's.
func (s *seating) seatStrangers() {
	for i := range s.pods {
		if s.pods[i].Keep == NotOurs && !s.pods[i].Fixed {
			s.lowest(s.pods[i].Cluster)
		}
	}
}

// fill gives the lowest free seats to the pods that have none, the oldest first.
func (s *seating) fill() {
	clear(s.next)
	for _, i := range s.byAge {
		if s.ranks(i) && s.seats[i] == NoSeat {
			s.seats[i] = s.lowest(s.pods[i].Cluster)
		}
	}
}

// ranks reports whether the pod is one that gets a place in the order.
func (s *seating) ranks(i int) bool {
	p := &s.pods[i]
	return !p.Fixed && p.Keep != NotOurs && p.Cluster != Elsewhere
}

// owns reports whether the seat belongs to the cluster.
func (s *seating) owns(cluster int, seat int32) bool {
	owner, ok := s.plan.Owner(int64(seat))
	return ok && owner == cluster
}

// lowest takes the lowest free seat of a cluster, and returns NoSeat if there is none.
func (s *seating) lowest(cluster int) int32 {
	if cluster == Elsewhere {
		return NoSeat
	}
	seats := s.plan.SeatsOf(cluster)
	for k := s.next[cluster]; k < len(seats); k++ {
		if !s.taken.Has(seats[k]) {
			s.taken.Set(seats[k])
			s.next[cluster] = k + 1
			return seats[k]
		}
	}
	s.next[cluster] = len(seats)
	return NoSeat
}

// bitset is a set of seats. Numbers outside the size it was grown to are never in it.
type bitset []uint64

// Grow makes room for the numbers below n.
func (b *bitset) Grow(n int) { *b = make(bitset, (n+63)/64) }

// Set adds a seat.
func (b bitset) Set(seat int32) {
	if word := int(seat) / 64; seat >= 0 && word < len(b) {
		b[word] |= 1 << (seat % 64)
	}
}

// Has reports whether a seat is in the set.
func (b bitset) Has(seat int32) bool {
	word := int(seat) / 64
	return seat >= 0 && word < len(b) && b[word]&(1<<(seat%64)) != 0
}

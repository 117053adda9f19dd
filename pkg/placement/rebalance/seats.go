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
	// Seat is the seat that the pod holds, or NoSeat; of a Fixed pod it is the number.
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
	// Cordoned pods run in a cluster that takes no new pods and keeps those it has.
	Cordoned
)

// Seats returns the seat that each pod should hold, by the index of the pod. A pod keeps a seat
// that its cluster owns; of several pods with the same seat the oldest keeps it. The others get the
// lowest free seats of their cluster, the oldest first, and those that find none get NoSeat.
//
// Fixed pods hold their number if their cluster owns it. Pods that are NotOurs get none, but take
// up the lowest seats of their cluster: they have no deletion cost, so they are the last to be
// deleted when the workload shrinks.
//
// While there are more pods than the plan has replicas the workload's controller is about to delete
// some by the seats they hold now, so the seats must be left alone then.
func Seats(plan *apportion.Plan, pods []Replica) []int32 {
	s := seating{plan: plan, pods: pods, seats: make([]int32, len(pods)), next: map[int]int{}}
	order := make([]int, len(pods))
	for i := range pods {
		s.seats[i] = NoSeat
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(pods[b].Age, pods[a].Age), cmp.Compare(pods[a].Name, pods[b].Name))
	})
	s.taken.Grow(plan.Len())
	for _, i := range order {
		s.keepNumber(i)
	}
	for _, i := range order {
		if pods[i].Keep == NotOurs && !pods[i].Fixed {
			s.lowest(pods[i].Cluster)
		}
	}
	for _, i := range order {
		s.keepSeat(i)
	}
	for _, i := range order {
		if s.wantsSeat(i) {
			s.seats[i] = s.lowest(pods[i].Cluster)
		}
	}
	return s.seats
}

// seating is the state of one call of Seats.
type seating struct {
	plan  *apportion.Plan
	pods  []Replica
	seats []int32
	taken bitset
	// next is, by cluster, the position in its list of seats before which all are taken.
	next map[int]int
}

func (s *seating) keepNumber(i int) {
	p := &s.pods[i]
	if !p.Fixed {
		return
	}
	s.taken.Set(p.Seat)
	if s.owns(p) {
		s.seats[i] = p.Seat
	}
}

// owns reports whether the seat of a pod belongs to the cluster of the pod.
func (s *seating) owns(p *Replica) bool {
	owner, ok := s.plan.Owner(int64(p.Seat))
	return ok && owner == p.Cluster
}

func (s *seating) keepSeat(i int) {
	p := &s.pods[i]
	if !s.wantsSeat(i) || s.taken.Has(p.Seat) {
		return
	}
	if s.owns(p) {
		s.seats[i] = p.Seat
		s.taken.Set(p.Seat)
	}
}

func (s *seating) wantsSeat(i int) bool {
	p := &s.pods[i]
	return !p.Fixed && p.Keep != NotOurs && s.seats[i] == NoSeat
}

// lowest takes the lowest free seat of a cluster.
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

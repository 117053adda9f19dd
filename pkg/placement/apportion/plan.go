// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apportion

// MaxSeats is the largest number of seats that are listed one by one. It is far
// above what a cluster can run and keeps a replica count that was mistyped from
// costing the memory it asks for.
const MaxSeats = 1 << 20

// Plan is the seat order cut off at a number of replicas, with the seats of each
// cluster at hand. Seats are numbered from 0. It costs O(n log clusters) to make,
// eight bytes per seat and four per cluster to keep; its methods do not allocate.
//
// A Plan is immutable and safe for concurrent use.
type Plan struct {
	replicas int64
	owners   []int32 // cluster by seat
	first    []int32 // by cluster: where its seats begin in seats
	seats    []int32 // seat numbers by cluster, ascending
}

// Plan lays out the seats of n replicas; a negative n counts as 0. No more than
// [MaxSeats] seats are laid out, which reads as if further replicas found no
// cluster.
func (o *Order) Plan(n int64) *Plan {
	p := &Plan{
		replicas: max(n, 0),
		owners:   o.Seats(n),
		first:    make([]int32, len(o.names)+1),
	}
	for _, c := range p.owners {
		p.first[c+1]++
	}
	for c := range o.names {
		p.first[c+1] += p.first[c]
	}
	// Filling moves the beginning of each cluster to its end, which is the
	// beginning of the next one: shifting by one place restores it.
	p.seats = make([]int32, len(p.owners))
	for seat, c := range p.owners {
		p.seats[p.first[c]] = int32(seat)
		p.first[c]++
	}
	copy(p.first[1:], p.first)
	p.first[0] = 0
	return p
}

// Replicas returns the number of replicas the plan was made for.
func (p *Plan) Replicas() int64 { return p.replicas }

// Len returns the number of seats.
func (p *Plan) Len() int { return len(p.owners) }

// Unplaced returns how many replicas have no seat because every cluster is at
// its maximum.
func (p *Plan) Unplaced() int64 { return p.replicas - int64(len(p.owners)) }

// Share returns the number of seats of a cluster.
func (p *Plan) Share(cluster int) int { return int(p.first[cluster+1] - p.first[cluster]) }

// Owner returns the cluster of a seat, and false if the plan has no such seat.
func (p *Plan) Owner(seat int64) (cluster int, ok bool) {
	if seat < 0 || seat >= int64(len(p.owners)) {
		return 0, false
	}
	return int(p.owners[seat]), true
}

// SeatsOf returns the seat numbers of a cluster in ascending order. The slice
// must not be changed.
func (p *Plan) SeatsOf(cluster int) []int32 {
	end := p.first[cluster+1]
	return p.seats[p.first[cluster]:end:end]
}

// Free returns how many more replicas a cluster should get, given those that it
// holds: its share less what it has. It is negative for a cluster with too many.
func (p *Plan) Free(cluster int, held *Held) int { return p.Share(cluster) - held.Len() }

// FirstFreeOf returns the lowest free seat of a cluster that is for a new replica, given what the
// cluster holds, and false if it holds its share already.
//
// The share is what counts, not the numbers: replicas of the cluster with the
// seat of another one (left over from other weights) or with none take up room
// too. So an evicted replica does not come back to a cluster that still holds
// too many. The lowest free seats are for them: somebody may be giving these to
// them at this moment, the oldest first. So the seat of a new one is that above
// which as many are free as there is room for more.
func (p *Plan) FirstFreeOf(cluster int, held *Held) (seat int, ok bool) {
	room, seats := p.Free(cluster, held), p.SeatsOf(cluster)
	for i := len(seats) - 1; room > 0 && i >= 0; i-- {
		if s := seats[i]; !held.Has(int64(s)) {
			if room--; room == 0 {
				return int(s), true
			}
		}
	}
	return 0, false
}

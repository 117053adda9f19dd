// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apportion

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// MaxWeight is the largest weight a cluster can have.
const MaxWeight = math.MaxInt32

// maxTurn is the largest turn and the largest tier a cluster can have.
const maxTurn = 1 << 20

// unlimited stands for the maximum of a cluster that has none: no int64 number
// of replicas can exceed it.
const unlimited = math.MaxInt64

// Cluster is one of the places that replicas are shared over.
type Cluster struct {
	// Name identifies the cluster and breaks ties: the smaller name, byte by
	// byte, goes first. It must not be empty.
	Name string
	// Weight is the cluster's part in relation to the other weights, 0 to
	// MaxWeight. A cluster of weight 0 gets nothing beyond its Min.
	Weight int64
	// Min is the number of seats the cluster gets before any cluster gets a
	// seat beyond its own Min. Not negative.
	Min int64
	// Max is the number of seats at which the cluster drops out; nil means no
	// limit, and a pointer to 0 that the cluster gets nothing. Not below Min.
	Max *int64
	// Tier, from 0 to maxTurn, says after whom the cluster is served: no cluster gets
	// a seat before those of smaller tiers are at their maxima.
	Tier int32
	// Turn, from 1 to maxTurn, lets the Min be served before those of the same tier
	// that have a larger turn or, as 0 means, none.
	Turn int32
	// Precedence breaks ties before the name does: the smaller one goes first.
	Precedence uint64
}

// Order is the seat order of a set of clusters: which cluster gets the first
// replica, which the second, and so on without end. Clusters are referred to by
// their index in the slice that was given to [NewOrder].
//
// An Order is immutable and safe for concurrent use.
type Order struct {
	clusters []bounds // as given
	names    []string // as given
	index    map[string]int32
	stages   []stage // the seat order is the concatenation of the stages
	nest     *nest   // if the clusters are in groups; then there are no stages
}

// bounds is a validated Cluster. The rank is its position among all clusters by
// precedence and name in ascending order: comparing ranks is comparing those.
type bounds struct {
	weight     uint64
	min, max   int64
	tier, turn int32
	rank       int32
}

// NewOrder validates the clusters and returns their seat order. It fails, naming
// the cluster, if a name is empty or given twice, a weight is out of range, a
// Min is negative or larger than the Max, or a Tier or Turn is out of range; and if
// there are no clusters at all.
// The clusters are copied.
func NewOrder(clusters []Cluster) (*Order, error) {
	if len(clusters) == 0 {
		return nil, errors.New("no clusters to share replicas over")
	}
	o := &Order{
		clusters: make([]bounds, len(clusters)),
		names:    make([]string, len(clusters)),
		index:    make(map[string]int32, len(clusters)),
	}
	byRank := make([]int32, len(clusters))
	for i, c := range clusters {
		if err := c.validate(i); err != nil {
			return nil, err
		}
		if _, ok := o.index[c.Name]; ok {
			return nil, fmt.Errorf("cluster %q is listed twice", c.Name)
		}
		o.clusters[i] = bounds{weight: uint64(c.Weight), min: c.Min, max: c.max(), tier: c.Tier, turn: c.Turn}
		o.names[i], o.index[c.Name], byRank[i] = c.Name, int32(i), int32(i)
	}
	slices.SortFunc(byRank, func(a, b int32) int {
		return cmp.Or(cmp.Compare(clusters[a].Precedence, clusters[b].Precedence), strings.Compare(o.names[a], o.names[b]))
	})
	for rank, i := range byRank {
		o.clusters[i].rank = int32(rank)
	}
	o.stages = newStages(o.clusters, byRank)
	return o, nil
}

func (c *Cluster) validate(index int) error {
	switch {
	case c.Name == "":
		return fmt.Errorf("cluster at index %d has no name", index)
	case c.Weight < 0 || c.Weight > MaxWeight:
		return fmt.Errorf("cluster %q: weight %d is not in the range [0, %d]", c.Name, c.Weight, MaxWeight)
	case c.Min < 0:
		return fmt.Errorf("cluster %q: min %d is negative", c.Name, c.Min)
	case c.Max != nil && *c.Max < 0:
		return fmt.Errorf("cluster %q: max %d is negative", c.Name, *c.Max)
	case c.Min > c.max():
		return fmt.Errorf("cluster %q: min %d is larger than max %d", c.Name, c.Min, c.max())
	case c.Tier < 0 || c.Tier > maxTurn, c.Turn < 0 || c.Turn > maxTurn:
		return fmt.Errorf("cluster %q: tier %d or turn %d is not in the range [0, %d]", c.Name, c.Tier, c.Turn, maxTurn)
	}
	return nil
}

// Equal reports whether two clusters are the same in all respects.
func (c Cluster) Equal(other Cluster) bool {
	return c.max() == other.max() && c == Cluster{
		Name: other.Name, Weight: other.Weight, Min: other.Min, Max: c.Max, Tier: other.Tier, Turn: other.Turn, Precedence: other.Precedence,
	}
}

func (c *Cluster) max() int64 {
	if c.Max == nil {
		return unlimited
	}
	return *c.Max
}

// Len returns the number of clusters.
func (o *Order) Len() int { return len(o.names) }

// Name returns the name of the cluster with the given index.
func (o *Order) Name(cluster int) string { return o.names[cluster] }

// Index returns the index of the cluster with the given name.
func (o *Order) Index(name string) (cluster int, ok bool) {
	i, ok := o.index[name]
	return int(i), ok
}

// Shares returns how many of n replicas each cluster gets, by cluster index, and
// how many nobody takes because every cluster is at its maximum. The shares are
// the counts of the first n seats, and they and unplaced add up to n. A negative
// n counts as 0.
//
// The cost depends on the number of clusters, not on n.
func (o *Order) Shares(n int64) (shares []int64, unplaced int64) {
	if o.nest != nil {
		return o.nest.shares(n)
	}
	shares = make([]int64, len(o.clusters))
	unplaced = max(n, 0)
	for i := range o.stages {
		take := min(unplaced, o.stages[i].size)
		if take == 0 {
			break
		}
		o.stages[i].share(take, shares)
		unplaced -= take
	}
	return shares, unplaced
}

// Seats returns the cluster index of each of the first n seats, in seat order.
// The result is shorter than n if every cluster reaches its maximum before, and
// never longer than [MaxSeats]. A negative n counts as 0.
func (o *Order) Seats(n int64) []int32 {
	n = min(max(n, 0), MaxSeats)
	if o.nest != nil {
		return o.nest.seats(n)
	}
	var size int64
	for i := range o.stages {
		size += min(n-size, o.stages[i].size)
	}
	owners := make([]int32, 0, size)
	for i := range o.stages {
		owners = o.stages[i].appendOwners(owners, int(min(size-int64(len(owners)), o.stages[i].size)))
	}
	return owners
}

// OwnerOf returns the cluster that owns a seat, whatever the number of replicas:
// it is the same in every [Plan] that reaches as far. It reports false if there
// is no such seat, because every cluster reaches its maximum before, and for
// numbers outside 0..MaxSeats-1, which no plan lays out.
//
// The cost depends on the number of clusters, not on the seat.
func (o *Order) OwnerOf(seat int64) (cluster int, ok bool) {
	if seat < 0 || seat >= MaxSeats {
		return 0, false
	}
	if o.nest != nil {
		return o.nest.ownerOf(seat)
	}
	for i := range o.stages {
		if st := &o.stages[i]; seat < st.size {
			queue := newClaims(st.members, st.first(seat))
			return int(st.members[queue.next(st.members)].cluster), true
		}
		seat -= o.stages[i].size
	}
	return 0, false
}

// SeatNumber returns the number, counted from 0, of the seat that is the k-th of
// the given cluster, also counted from 0. It reports false if the cluster has no
// such seat because of its maximum or a weight of 0, or if the number does not
// fit in an int64.
//
// The cost depends on the number of clusters, not on k.
func (o *Order) SeatNumber(cluster int, k int64) (seat int64, ok bool) {
	if o.nest != nil {
		return o.nest.seatNumber(cluster, k)
	}
	for i := range o.stages {
		st := &o.stages[i]
		m, found := st.find(int32(cluster), k)
		if !found {
			seat = addSaturated(seat, st.size)
			continue
		}
		seat = addSaturated(seat, st.countBefore(m, k))
		return seat, seat < unlimited
	}
	return 0, false
}

// Ranking returns the clusters that can take one more seat in the order in which
// their next seats appear in the seat order, given that cluster i holds its first
// held[i] seats. Clusters at their maximum are left out. It answers "where does
// the next replica go" for a workload whose number of replicas is not known: to
// the first cluster of the ranking that has room. The slice held must have one
// entry per cluster; a negative entry counts as 0. Clusters of one group stand together, in the
// place of the next seat of the group.
func (o *Order) Ranking(held []int64) []int32 {
	if o.nest != nil {
		return o.nest.ranking(held)
	}
	seats := func(cluster int32) int64 { return max(held[cluster], 0) }
	ranked := make([]int32, 0, len(o.clusters))
	for i := range o.clusters {
		if o.clusters[i].phase(seats(int32(i))) != done {
			ranked = append(ranked, int32(i))
		}
	}
	slices.SortFunc(ranked, func(a, b int32) int {
		clusterA, clusterB := &o.clusters[a], &o.clusters[b]
		if d := cmp.Compare(clusterA.phase(seats(a)), clusterB.phase(seats(b))); d != 0 {
			return d
		}
		claimA, claimB := clusterA.claim(seats(a)), clusterB.claim(seats(b))
		return 2*claimA.behind(&claimB) - 1
	})
	return ranked
}

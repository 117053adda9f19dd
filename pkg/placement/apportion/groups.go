// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apportion

import (
	"errors"
	"fmt"
)

// Group is a set of clusters that share among them what the group gets among groups.
type Group struct {
	// As is the group among groups, by the same rules as a cluster among clusters: its name, weight,
	// bounds, tier and turn. Where its clusters cannot hold so much, Max is lowered to what they can,
	// and Min with it.
	As Cluster
	// Clusters share the seats of the group, in the seat order that they have on their own. There may
	// be none.
	Clusters []Cluster
}

// Equal reports whether two groups are the same in all respects.
func (g Group) Equal(other Group) bool {
	if !g.As.Equal(other.As) || len(g.Clusters) != len(other.Clusters) {
		return false
	}
	for i := range g.Clusters {
		if !g.Clusters[i].Equal(other.Clusters[i]) {
			return false
		}
	}
	return true
}

// capacity returns how many seats the clusters have, unlimited for no end.
func (g *Group) capacity() int64 {
	var sum int64
	for i := range g.Clusters {
		if c := &g.Clusters[i]; c.Weight > 0 {
			sum = addSaturated(sum, c.max())
		} else {
			sum = addSaturated(sum, c.Min)
		}
	}
	return sum
}

// nest is the seat order of clusters in groups. The groups have a seat order among them, and the
// k-th seat of a group is the k-th of the seat order of its clusters. So it is a seat order like
// any other: the shares of N replicas are its first N seats.
type nest struct {
	among  *Order   // of the groups
	within []*Order // of the clusters, by group; nil for a group that has none
	first  []int32  // by group: the index of its first cluster
	of     []int32  // by cluster: its group
}

// NewGroupedOrder returns the seat order of clusters in groups. Their indexes run through the
// groups as given. It fails, naming the group and the cluster, where [NewOrder] does, of groups or
// of the clusters of one; if a cluster is in two groups; and if there is no group. Without any
// cluster the order has no seats.
func NewGroupedOrder(groups []Group) (*Order, error) {
	if len(groups) == 0 {
		return nil, errors.New("no groups of clusters to share replicas over")
	}
	o := &Order{index: map[string]int32{}, nest: &nest{
		within: make([]*Order, len(groups)), first: make([]int32, len(groups)),
	}}
	as := make([]Cluster, len(groups))
	for g := range groups {
		group := &groups[g]
		if err := group.As.validate(g); err != nil {
			return nil, fmt.Errorf("group: %w", err)
		}
		as[g] = group.As.limit(group.capacity())
		o.nest.first[g] = int32(len(o.names))
		if err := o.add(int32(g), group); err != nil {
			return nil, fmt.Errorf("group %q: %w", group.As.Name, err)
		}
	}
	among, err := NewOrder(as)
	if err != nil {
		return nil, fmt.Errorf("groups: %w", err)
	}
	o.nest.among = among
	return o, nil
}

func (o *Order) add(g int32, group *Group) error {
	if len(group.Clusters) == 0 {
		return nil
	}
	within, err := NewOrder(group.Clusters)
	if err != nil {
		return err
	}
	for _, name := range within.names {
		if _, ok := o.index[name]; ok {
			return fmt.Errorf("cluster %q is in another group, too", name)
		}
		o.index[name] = int32(len(o.names))
		o.names = append(o.names, name)
		o.nest.of = append(o.nest.of, g)
	}
	o.nest.within[g] = within
	return nil
}

// Groups returns the number of groups, 0 if the order was made without any.
func (o *Order) Groups() int {
	if o.nest == nil {
		return 0
	}
	return o.nest.among.Len()
}

// GroupName returns the name of the group with the given index.
func (o *Order) GroupName(group int) string { return o.nest.among.Name(group) }

// GroupOf returns the index of the group of a cluster. There must be groups.
func (o *Order) GroupOf(cluster int) int { return int(o.nest.of[cluster]) }

// part returns the part of a list by cluster that belongs to a group.
func part[T any](n *nest, list []T, group int) []T {
	end := len(n.of)
	if group+1 < len(n.first) {
		end = int(n.first[group+1])
	}
	return list[n.first[group]:end]
}

func (n *nest) shares(replicas int64) (shares []int64, unplaced int64) {
	byGroup, unplaced := n.among.Shares(replicas)
	shares = make([]int64, 0, len(n.of))
	for g, within := range n.within {
		if within != nil {
			inside, _ := within.Shares(byGroup[g])
			shares = append(shares, inside...)
		}
	}
	return shares, unplaced
}

func (n *nest) seats(replicas int64) []int32 {
	owners := n.among.Seats(replicas)
	count := make([]int64, len(n.within))
	for _, g := range owners {
		count[g]++
	}
	inside := make([][]int32, len(n.within))
	for g, within := range n.within {
		if within != nil {
			inside[g] = within.Seats(count[g])
		}
	}
	for seat, g := range owners {
		owners[seat] = n.first[g] + inside[g][0]
		inside[g] = inside[g][1:]
	}
	return owners
}

func (n *nest) ownerOf(seat int64) (cluster int, ok bool) {
	group, ok := n.among.OwnerOf(seat)
	if !ok {
		return 0, false
	}
	before, _ := n.among.Shares(seat)
	cluster, ok = n.within[group].OwnerOf(before[group])
	return int(n.first[group]) + cluster, ok
}

func (n *nest) seatNumber(cluster int, k int64) (seat int64, ok bool) {
	group := int(n.of[cluster])
	inside, ok := n.within[group].SeatNumber(cluster-int(n.first[group]), k)
	if !ok {
		return 0, false
	}
	return n.among.SeatNumber(group, inside)
}

// ranking ranks the groups by what all of their clusters hold, and the clusters of each among
// themselves. What a cluster holds beyond what it may is nothing that the others of its group have
// got.
func (n *nest) ranking(held []int64) []int32 {
	byGroup := make([]int64, len(n.within))
	for cluster, g := range n.of {
		most := n.within[g].clusters[int32(cluster)-n.first[g]].most()
		byGroup[g] += max(min(held[cluster], most), 0)
	}
	ranked := make([]int32, 0, len(n.of))
	for _, g := range n.among.Ranking(byGroup) {
		for _, cluster := range n.within[g].Ranking(part(n, held, int(g))) {
			ranked = append(ranked, n.first[g]+cluster)
		}
	}
	return ranked
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"cmp"
	"slices"
	"strconv"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/rendezvous"
)

// The oracle shares replicas over groups as the documentation of policies says, one replica after
// the other and without any short cut. Sites are weighed by the label size, spread by labels, and
// selected by the label in.

// place is a cluster as the oracle sees it.
type place struct {
	name         string
	weight, rank uint64
	values       []string
	has, most    int64
}

// party is a group as the oracle sees it, with the clusters that may get something.
type party struct {
	group  *group
	index  int
	places []*place
	has    int64
}

// oracle is what is to be shared, and what has been so far.
type oracle struct{ parties []*party }

func newOracle(groups []group, sites []*berthv1alpha1.Cluster, key string, shut map[string]bool) *oracle {
	o := &oracle{}
	taken := map[string]bool{}
	for i := range groups {
		p := &party{group: &groups[i], index: i}
		for _, s := range sites {
			if taken[s.Name] || !mine(p.group, s) {
				continue
			}
			taken[s.Name] = true
			if size := sizeOf(p.group, s); size > 0 && !shut[s.Name] {
				p.places = append(p.places, placeOf(p.group, s, size, key))
			}
		}
		p.choose()
		o.parties = append(o.parties, p)
	}
	return o
}

func mine(g *group, s *berthv1alpha1.Cluster) bool {
	if g.ClusterSelector == nil {
		return slices.Contains(g.ClusterNames, s.Name)
	}
	for name, value := range g.ClusterSelector.MatchLabels {
		if s.Labels[name] != value {
			return false
		}
	}
	return true
}

func sizeOf(g *group, s *berthv1alpha1.Cluster) uint64 {
	if g.ClusterWeights == nil {
		return 1
	}
	size, err := strconv.ParseUint(s.Labels[g.ClusterWeights.LabelKey], 10, 31)
	if err != nil {
		return 0
	}
	return size
}

func placeOf(g *group, s *berthv1alpha1.Cluster, size uint64, key string) *place {
	p := &place{name: s.Name, weight: size, rank: rendezvous.Hash(key+"/"+g.Name, s.Name), most: 1 << 40}
	if n := g.ReplicasPerCluster; n != nil {
		p.most = int64(*n)
	}
	for _, c := range g.SpreadConstraints {
		p.values = append(p.values, s.Labels[c.LabelKey])
	}
	return p
}

// choose leaves the clusters that maxClusters allows: each is the one that brings the most values
// that are missing, and among those the first by rank.
func (p *party) choose() {
	if p.group.MaxClusters == nil {
		return
	}
	var chosen []*place
	for len(chosen) < int(*p.group.MaxClusters) && len(p.places) > 0 {
		next := slices.MinFunc(p.places, func(a, b *place) int {
			return cmp.Or(cmp.Compare(p.brings(b, chosen), p.brings(a, chosen)), cmp.Compare(a.rank, b.rank))
		})
		chosen = append(chosen, next)
		p.places = slices.DeleteFunc(p.places, func(a *place) bool { return a == next })
	}
	p.places = chosen
}

// brings returns for how many spread constraints, of those that are not satisfied by the others, a
// cluster has a further value.
func (p *party) brings(a *place, others []*place) (n int) {
	for i, c := range p.group.SpreadConstraints {
		seen := map[string]bool{}
		for _, other := range others {
			if other.values[i] != "" {
				seen[other.values[i]] = true
			}
		}
		if a.values[i] != "" && !seen[a.values[i]] && len(seen) < int(c.MinGroups) {
			n++
		}
	}
	return n
}

// first returns the cluster of the group that gets its next replica, nil if none can.
func (p *party) first() *place {
	var open, used []*place
	for _, a := range p.places {
		if a.has < a.most {
			open = append(open, a)
		}
		if a.has > 0 {
			used = append(used, a)
		}
	}
	if n := p.group.Replicas; len(open) == 0 || n != nil && p.has >= int64(*n) {
		return nil
	}
	return slices.MinFunc(open, func(a, b *place) int {
		return cmp.Or(cmp.Compare(p.brings(b, used), p.brings(a, used)), webster(a.weight, a.has, b.weight, b.has), cmp.Compare(a.rank, b.rank))
	})
}

// webster compares weight/(2·has+1), the larger one first, and then who has less.
func webster(weight uint64, has int64, otherWeight uint64, otherHas int64) int {
	return cmp.Or(cmp.Compare(otherWeight*uint64(2*has+1), weight*uint64(2*otherHas+1)), cmp.Compare(has, otherHas))
}

// next gives one more replica away and returns the cluster, empty if none can take it: lower tiers
// first, then numbers in the order of the groups, then weights.
func (o *oracle) next() string {
	var best *party
	for _, p := range o.parties {
		if p.first() != nil && (best == nil || before(p, best)) {
			best = p
		}
	}
	if best == nil {
		return ""
	}
	chosen := best.first()
	chosen.has++
	best.has++
	return chosen.name
}

func before(a, b *party) bool {
	counted := func(p *party) int {
		if p.group.Replicas != nil || p.group.ReplicasPerCluster != nil {
			return 0
		}
		return 1
	}
	order := cmp.Or(cmp.Compare(tier(a), tier(b)), cmp.Compare(counted(a), counted(b)))
	if order == 0 && counted(a) == 1 {
		order = webster(weightOf(a), a.has, weightOf(b), b.has)
	}
	return cmp.Or(order, cmp.Compare(a.index, b.index)) < 0
}

func tier(p *party) int32 {
	if p.group.Tier == nil {
		return 0
	}
	return *p.group.Tier
}

func weightOf(p *party) uint64 {
	if p.group.Weight == nil {
		return 1
	}
	return uint64(*p.group.Weight)
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/divide"
	"berth.dev/berth/pkg/placement/grouping"
)

// usable returns the clusters that can be used, by name, and what is wrong with them, nil if
// nothing is.
func (p *planner) usable() ([]SelectedCluster, *Problem) {
	if p.Problem != nil {
		return nil, p.Problem
	}
	clusters := slices.Clone(p.Clusters)
	if p.Subgroups != nil {
		clusters = p.best(clusters)
	}
	clusters = p.leave(clusters)
	slices.SortFunc(clusters, func(a, b SelectedCluster) int { return strings.Compare(a.Name, b.Name) })
	weighted := slices.ContainsFunc(clusters, func(c SelectedCluster) bool { return c.Weight > 0 })
	switch {
	case len(clusters) == 0:
		return nil, &Problem{berthv1alpha1.ReasonNoClusters, "the subscribers select no Cluster"}
	case len(clusters) > grouping.MaxClusters:
		return clusters, &Problem{berthv1alpha1.ReasonInvalidSubscriber,
			fmt.Sprintf("the subscribers select %d Clusters; at most %d can be served", len(clusters), grouping.MaxClusters)}
	case p.Strategy == divide.Static && !weighted:
		return clusters, &Problem{berthv1alpha1.ReasonNoWeight, "all selected Clusters have weight 0: give at least one a weight"}
	}
	return clusters, nil
}

// best returns the best clusters of each subgroup, in any order.
func (p *planner) best(clusters []SelectedCluster) []SelectedCluster {
	ranks := make(map[string][]int64, len(clusters))
	for i := range clusters {
		ranks[clusters[i].Name] = p.rank(&clusters[i])
	}
	slices.SortFunc(clusters, func(a, b SelectedCluster) int {
		return cmp.Or(-slices.Compare(ranks[a.Name], ranks[b.Name]), strings.Compare(a.Name, b.Name))
	})
	sets := make([]labels.Set, len(clusters))
	for i := range clusters {
		sets[i] = clusters[i].Labels
	}
	kept := clusters[:0]
	for i, chosen := range divide.Subgroups(sets, p.Subgroups) {
		if chosen {
			kept = append(kept, clusters[i])
		}
	}
	return kept
}

// rank returns what makes a cluster a good one, the most important first; more is better. It is
// best that a cluster takes pods, has a weight and was not left, then that it takes pods, or that
// its replicas wait for it, then that it has a weight, then that it holds replicas, so that nothing
// moves, then that it is preferred; last count the number of replicas that it holds, and its room.
func (p *planner) rank(c *SelectedCluster) []int64 {
	var used, room int64
	for i := range p.Feeds {
		feed := &p.Feeds[i]
		if !p.rebalances() {
			used += max(feed.Recorded[c.Name], feed.Bound[c.Name])
		}
		if p.Strategy.ByRoom() && c.Open && feed.Wanted != nil && !feed.Capped[c.Name] {
			room += p.count(i, c.Name, math.MaxInt32)
		}
	}
	weighted := p.weighted(c)
	open := c.Open || c.waits() && used > 0
	return []int64{flag(p.welcomes(c)), flag(open), flag(weighted), flag(used > 0), c.Preference, used, room}
}

func flag(set bool) int64 {
	if set {
		return 1
	}
	return 0
}

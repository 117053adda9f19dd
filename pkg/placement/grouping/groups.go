// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grouping

import (
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/placement/rendezvous"
)

// maxGroupedClusters is the largest number of clusters in the groups of one policy.
const maxGroupedClusters = 10_000

// grouped returns the layout of groups.
func grouped(groups []berthv1alpha1.ClusterGroup, key string, sites *Sites, shut closed) (*Layout, error) {
	l := &Layout{groups: make([]apportion.Group, len(groups))}
	first := map[string]string{}
	for i := range groups {
		group := &groups[i]
		field := fmt.Sprintf("spec.placement.clusterGroups[%d]", i)
		if err := checkGroup(group); err != nil {
			return nil, fmt.Errorf("%s: %w", field, err)
		}
		names, err := members(group, sites)
		if err != nil {
			return nil, fmt.Errorf("%s.clusterSelector: %w", field, err)
		}
		names = l.unclaimed(names, group.Name, first)
		if len(first) > maxGroupedClusters {
			return nil, fmt.Errorf("%s: more than %d clusters", field, maxGroupedClusters)
		}
		if len(names) == 0 {
			l.Empty = append(l.Empty, group.Name)
		}
		l.Wants.add(group, sites.count(names, shut.excluded))
		l.groups[i] = share(group, i, l.clustersOf(group, names, key, sites, shut))
	}
	return l, nil
}

// checkGroup refuses what the schema does, for those who read it from elsewhere.
func checkGroup(group *berthv1alpha1.ClusterGroup) error {
	numbers := 0
	for _, given := range []bool{group.Weight != nil, group.Replicas != nil, group.ReplicasPerCluster != nil} {
		if given {
			numbers++
		}
	}
	switch {
	case (group.ClusterSelector != nil) == (len(group.ClusterNames) > 0):
		return errors.New("give exactly one of clusterSelector and clusterNames")
	case numbers > 1:
		return errors.New("give at most one of weight, replicas and replicasPerCluster")
	}
	return nil
}

// members returns the names of the clusters that a group names or selects, in ascending order.
func members(group *berthv1alpha1.ClusterGroup, sites *Sites) ([]string, error) {
	if group.ClusterSelector == nil {
		return slices.Sorted(slices.Values(group.ClusterNames)), nil
	}
	selector, err := metav1.LabelSelectorAsSelector(group.ClusterSelector)
	if err != nil {
		return nil, fmt.Errorf("the selector cannot be understood: %w", err)
	}
	var names []string
	for i := range sites.all() {
		if s := &sites.list[i]; !s.leaving && selector.Matches(labels.Set(s.traits.Labels)) {
			names = append(names, s.name)
		}
	}
	return names, nil
}

// unclaimed returns the clusters that are in no group further up, and notes whose they are.
func (l *Layout) unclaimed(names []string, group string, first map[string]string) []string {
	return slices.DeleteFunc(names, func(name string) bool {
		if owner, claimed := first[name]; claimed {
			l.Overlaps = append(l.Overlaps, Overlap{Cluster: name, First: owner, Second: group})
			return true
		}
		first[name] = group
		return false
	})
}

// clustersOf returns the clusters of a group as they share what it gets: those that are chosen,
// with their weights, and those that are closed, without a share as in static. What users may not
// expect of it is noted.
func (l *Layout) clustersOf(
	group *berthv1alpha1.ClusterGroup, names []string, key string, sites *Sites, shut closed,
) []apportion.Cluster {
	weights, none := weigh(group, names, sites)
	if none != nil {
		l.Unweighted = append(l.Unweighted, *none)
	}
	clusters, members := make([]apportion.Cluster, 0, len(names)), make([]member, 0, len(names))
	for i, name := range names {
		if shut.has(name) {
			clusters = append(clusters, apportion.Cluster{Name: name, Max: new(int64)})
			continue
		}
		var labels map[string]string
		s := sites.find(name)
		if s != nil {
			labels = s.traits.Labels
		} else if group.MaxClusters != nil && sites != nil {
			continue // what does not exist is not chosen
		}
		members = append(members, member{
			name: name, weight: weights[i], precedence: rendezvous.Hash(key+"/"+group.Name, name),
			values: valuesOf(group.SpreadConstraints, labels),
		})
	}
	if most := group.MaxClusters; most != nil {
		members = choose(weighted(members), group.SpreadConstraints, int(*most))
	}
	if len(members) > 0 {
		l.Relaxed = append(l.Relaxed, relaxed(group, weighted(members))...)
	}
	return append(clusters, seated(group, members)...)
}

// weighted returns the members that have a weight: those that get something.
func weighted(members []member) []member {
	return slices.DeleteFunc(slices.Clone(members), func(m member) bool { return m.weight == 0 })
}

// seated returns the members of a group as clusters. Those that get the first seats because of the
// spread constraints have one each before any other has, one after the other.
func seated(group *berthv1alpha1.ClusterGroup, members []member) []apportion.Cluster {
	slices.SortFunc(members, bySeat)
	clusters := make([]apportion.Cluster, len(members))
	for i, m := range members {
		clusters[i] = apportion.Cluster{Name: m.name, Weight: m.weight, Precedence: m.precedence}
		if n := group.ReplicasPerCluster; n != nil {
			clusters[i].Max = new(int64(*n))
		}
	}
	if len(group.SpreadConstraints) == 0 || group.ReplicasPerCluster != nil && *group.ReplicasPerCluster == 0 {
		return clusters
	}
	// Those with a weight come first.
	some := weighted(members)
	for turn, i := range cover(some, group.SpreadConstraints, len(some)) {
		clusters[i].Turn = int32(turn) + 1
		clusters[i].Min = 1
	}
	return clusters
}

// share returns a group, given its clusters and its index, as it shares with the others. Of groups
// that are alike the first one goes first.
func share(group *berthv1alpha1.ClusterGroup, index int, clusters []apportion.Cluster) apportion.Group {
	as := apportion.Cluster{Name: group.Name, Weight: 1, Precedence: uint64(index), Tier: TierOf(group)}
	switch {
	case group.Replicas != nil:
		as = counted(as, int64(*group.Replicas))
	case group.ReplicasPerCluster != nil:
		as = counted(as, int64(*group.ReplicasPerCluster)*int64(len(clusters)))
	case group.Weight != nil:
		as.Weight = *group.Weight
	}
	return apportion.Group{As: as, Clusters: clusters}
}

// counted gives a group a number of replicas instead of a weight. Those further up are served
// first.
func counted(as apportion.Cluster, n int64) apportion.Cluster {
	as.Turn, as.Min, as.Max = int32(as.Precedence)+1, n, &n
	return as
}

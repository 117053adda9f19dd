// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grouping

import (
	"fmt"
	"maps"
	"slices"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/apportion"
)

// Layout is what a placement comes to for the Clusters that there are: among which clusters it
// shares replicas out, and by which weights and bounds. It is immutable.
type Layout struct {
	// clusters are those of a staticWeightList, groups those of clusterGroups.
	clusters []apportion.Cluster
	groups   []apportion.Group

	// Empty are the names of the groups in which there is no cluster at present.
	Empty []string
	// Overlaps are the clusters that are in several groups.
	Overlaps []Overlap
	// Unweighted are the clusters without a weight, by group.
	Unweighted []Unweighted
	// Relaxed are the spread constraints that ask for more than there is.
	Relaxed []Relaxed
}

// Overlap is a cluster that is in two groups, of which the first one has it.
type Overlap struct {
	// Cluster is the name of the cluster, First and Second are those of the groups.
	Cluster, First, Second string
}

// NewLayout returns the layout of a placement. Clusters that are cordoned and those that were left,
// because they are offline, have no share. What has to be chosen among clusters that are alike
// depends on their names and on the key, which should be another one for each policy. Where the
// weights of a staticWeightList cannot be used, or the groups cannot be understood, it fails and
// names the field. What package apportion refuses, such as a cluster that is listed twice, is left
// to Order.
func NewLayout(placement *berthv1alpha1.Placement, key string, sites *Sites, left ...string) (*Layout, error) {
	closed := sites.Cordoned()
	if len(left) > 0 {
		closed = maps.Clone(closed)
		if closed == nil {
			closed = map[string]bool{}
		}
		for _, name := range left {
			closed[name] = true
		}
	}
	if len(placement.ClusterGroups) > 0 {
		return grouped(placement.ClusterGroups, key, sites, closed)
	}
	clusters, err := static(placement, closed)
	if err != nil {
		return nil, err
	}
	return &Layout{clusters: clusters}, nil
}

// Order returns the seat order of the layout. The error names the field that is wrong.
func (l *Layout) Order() (*apportion.Order, error) {
	if len(l.groups) == 0 {
		return newOrder(l.clusters)
	}
	order, err := apportion.NewGroupedOrder(l.groups)
	if err != nil {
		return nil, fmt.Errorf("spec.placement.clusterGroups: %w", err)
	}
	return order, nil
}

// Equal reports whether two layouts, which may be nil, are the same in all respects.
func (l *Layout) Equal(other *Layout) bool {
	if l == nil || other == nil {
		return l == other
	}
	return slices.EqualFunc(l.clusters, other.clusters, apportion.Cluster.Equal) &&
		slices.EqualFunc(l.groups, other.groups, apportion.Group.Equal) &&
		slices.Equal(l.Empty, other.Empty) && slices.Equal(l.Overlaps, other.Overlaps) &&
		slices.EqualFunc(l.Unweighted, other.Unweighted, Unweighted.equal) && slices.Equal(l.Relaxed, other.Relaxed)
}

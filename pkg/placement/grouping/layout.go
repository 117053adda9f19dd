// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grouping

import (
	"fmt"
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
	// Excluded are the clusters that do not meet the constraints, in ascending order. They have no
	// share.
	Excluded []string
	// Wants is how many replicas the groups want that say so by numbers.
	Wants Wants
}

// Wants is how many replicas groups want that say so by numbers rather than weights. Clusters count
// that exist and meet the constraints, be they cordoned or offline.
type Wants struct {
	// Replicas is how many they want together, and Shares reports that another group takes what is
	// beyond that.
	Replicas int64
	Shares   bool
	// PerCluster reports that a group has replicasPerCluster. Clusters is how many clusters want Each
	// then, 0 if they do not all want the same.
	PerCluster     bool
	Clusters, Each int64
	uneven         bool
}

// add counts a group with so many clusters.
func (w *Wants) add(group *berthv1alpha1.ClusterGroup, clusters int64) {
	if most := group.MaxClusters; most != nil {
		clusters = min(clusters, int64(*most))
	}
	switch {
	case group.ReplicasPerCluster != nil:
		each := int64(*group.ReplicasPerCluster)
		w.Replicas += each * clusters
		w.uneven = w.uneven || w.PerCluster && w.Each != each
		w.PerCluster, w.Each = true, each
		if w.Clusters += clusters; w.uneven {
			w.Clusters, w.Each = 0, 0
		}
	case group.Replicas != nil:
		w.Replicas += int64(*group.Replicas)
	default:
		w.Shares = true
	}
}

// Overlap is a cluster that is in two groups, of which the first one has it.
type Overlap struct {
	// Cluster is the name of the cluster, First and Second are those of the groups.
	Cluster, First, Second string
}

// closed are the clusters that have no share.
type closed struct {
	cordoned map[string]bool
	// excluded are those that do not meet the constraints, left those that were left.
	excluded map[string]bool
	left     map[string]bool
}

func (c *closed) has(name string) bool {
	return c.cordoned[name] || c.excluded[name] || c.left[name]
}

// NewLayout returns the layout of a placement. Clusters that are cordoned, those that do not meet
// its constraints, and those that were left, because they are offline, have no share. What has to
// be chosen among clusters that are alike depends on their names and on the key, which should be
// another one for each policy. Where the weights of a staticWeightList cannot be used, or the
// groups cannot be understood, it fails and names the field. What package apportion refuses, such
// as a cluster that is listed twice, is left to Order.
func NewLayout(placement *berthv1alpha1.Placement, key string, sites *Sites, left ...string) (*Layout, error) {
	shut := closed{cordoned: sites.Cordoned(), excluded: sites.excluded(placement.Constraints), left: make(map[string]bool, len(left))}
	for _, name := range left {
		shut.left[name] = true
	}
	l, err := layout(placement, key, sites, shut)
	if err != nil {
		return nil, err
	}
	l.note(l.clusters, shut.excluded)
	for i := range l.groups {
		l.note(l.groups[i].Clusters, shut.excluded)
	}
	slices.Sort(l.Excluded)
	return l, nil
}

func layout(placement *berthv1alpha1.Placement, key string, sites *Sites, shut closed) (*Layout, error) {
	if len(placement.ClusterGroups) > 0 {
		return grouped(placement.ClusterGroups, key, sites, shut)
	}
	clusters, err := static(placement, shut)
	return &Layout{clusters: clusters}, err
}

// note notes which of the clusters are excluded.
func (l *Layout) note(clusters []apportion.Cluster, excluded map[string]bool) {
	for i := range clusters {
		if name := clusters[i].Name; excluded[name] {
			l.Excluded = append(l.Excluded, name)
		}
	}
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
		slices.EqualFunc(l.Unweighted, other.Unweighted, Unweighted.equal) && slices.Equal(l.Relaxed, other.Relaxed) &&
		slices.Equal(l.Excluded, other.Excluded) && l.Wants == other.Wants
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grouping

import (
	"math/bits"
	"slices"
	"strconv"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/apportion"
)

// Unweighted are clusters of a group that have no weight, so they get nothing.
type Unweighted struct {
	// Group is the name of the group, Of the label or resource that they lack a number of.
	Group, Of string
	// Clusters are their names.
	Clusters []string
}

func (u Unweighted) equal(other Unweighted) bool {
	return u.Group == other.Group && u.Of == other.Of && slices.Equal(u.Clusters, other.Clusters)
}

// weigh returns the weights of the clusters of a group, and which of them have none because what
// gives it is missing or no number.
func weigh(group *berthv1alpha1.ClusterGroup, names []string, sites *Sites) ([]int64, *Unweighted) {
	weights := make([]int64, len(names))
	by := group.ClusterWeights
	if by == nil || by.Type == berthv1alpha1.WeighEqual {
		for i := range weights {
			weights[i] = 1
		}
		return weights, nil
	}
	none := &Unweighted{Group: group.Name, Of: by.LabelKey + resourceOf(by) + by.ClusterResource}
	for i, name := range names {
		var known bool
		if s := sites.find(name); s != nil {
			weights[i], known = s.weight(by)
		}
		if !known {
			none.Clusters = append(none.Clusters, name)
		}
	}
	if by.Type != berthv1alpha1.WeighLabel {
		roundDown(weights)
	}
	if len(none.Clusters) == 0 {
		none = nil
	}
	return weights, none
}

// weight returns the number that gives a cluster its weight, and reports whether there is one.
func (s *site) weight(by *berthv1alpha1.ClusterWeights) (int64, bool) {
	if by.Type == berthv1alpha1.WeighLabel {
		n, err := strconv.ParseInt(s.traits.Labels[by.LabelKey], 10, 32)
		if err != nil || n < 0 {
			return 0, false
		}
		return n, true
	}
	switch by.Type {
	case berthv1alpha1.WeighPool:
		n := s.pools[by.ClusterResource]
		return n, n > 0
	case berthv1alpha1.WeighRoom:
		n, told := s.room[resourceOf(by)]
		return max(0, n), told // a full cluster is nothing to tell
	default:
		n := s.allocatable[by.Resource]
		return n, n > 0
	}
}

// resourceOf returns the resource by which clusters are weighed, empty if it is none.
func resourceOf(by *berthv1alpha1.ClusterWeights) string {
	if by.Type == berthv1alpha1.WeighRoom && by.Resource == "" {
		return cpu
	}
	return by.Resource
}

// ByRoom returns the resources by whose room a placement weighs clusters.
func ByRoom(placement *berthv1alpha1.Placement) []string {
	var names []string
	for i := range placement.ClusterGroups {
		if by := placement.ClusterGroups[i].ClusterWeights; by != nil && by.Type == berthv1alpha1.WeighRoom {
			names = append(names, resourceOf(by))
		}
	}
	return names
}

// RoundDown keeps the two highest bits of an amount, so that a small change moves nobody.
func RoundDown(n int64) int64 {
	below := max(0, bits.Len64(uint64(n))-2)
	return n >> below << below
}

// roundDown makes weights of amounts, in range.
func roundDown(amounts []int64) {
	var most int64
	for i, n := range amounts {
		amounts[i] = RoundDown(n)
		most = max(most, amounts[i])
	}
	for most > apportion.MaxWeight {
		most >>= 1
		for i, n := range amounts {
			if n > 1 {
				amounts[i] = n >> 1
			}
		}
	}
}

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
	// Group is the name of the group, Why says of the clusters why they have no weight.
	Group, Why string
	// Clusters are their names.
	Clusters []string
}

func (u Unweighted) equal(other Unweighted) bool {
	return u.Group == other.Group && u.Why == other.Why && slices.Equal(u.Clusters, other.Clusters)
}

// weigh returns the weights of the clusters of a group, and which of them have none because what
// gives it is missing or no number.
func weigh(group *berthv1alpha1.ClusterGroup, names []string, sites *Sites) ([]int64, *Unweighted) {
	by := group.ClusterWeights
	if by == nil || by.Type == berthv1alpha1.WeighEqual {
		return slices.Repeat([]int64{1}, len(names)), nil
	}
	weights := make([]int64, len(names))
	none := &Unweighted{Group: group.Name, Why: why(by)}
	var told, untold []int
	for i, name := range names {
		s, known := sites.find(name), false
		if s != nil {
			weights[i], known = s.weight(by)
		}
		switch {
		case known:
			told = append(told, i)
		case s != nil && s.uncounted(by):
			untold = append(untold, i)
		default:
			none.Clusters = append(none.Clusters, name)
		}
	}
	assumed := mean(weights, told)
	for _, i := range untold {
		if weights[i] = assumed; len(told) == 0 {
			none.Clusters = append(none.Clusters, names[i])
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

// why says of clusters without a weight what they lack.
func why(by *berthv1alpha1.ClusterWeights) string {
	switch by.Type {
	case berthv1alpha1.WeighLabel:
		return "their label " + by.LabelKey + " is missing or no number"
	case berthv1alpha1.WeighPool:
		return "no pool of ClusterResource " + by.ClusterResource + " has their nodes"
	default:
		return "their nodes have no " + resourceOf(by)
	}
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
		n := max(0, s.room[resourceOf(by)])
		return n, n > 0 || s.allocatable[resourceOf(by)] > 0 && !s.uncounted(by) // a full cluster is nothing to tell
	default:
		n := s.allocatable[by.Resource]
		return n, n > 0
	}
}

// uncounted reports whether nobody has counted yet what gives a cluster its weight, and it may have
// some of it: it has nodes, or nobody has ever looked at it. Clusters are counted one after the
// other: the first one must not get everything.
func (s *site) uncounted(by *berthv1alpha1.ClusterWeights) bool {
	counted := true
	switch by.Type {
	case berthv1alpha1.WeighPool:
		_, counted = s.pools[by.ClusterResource]
	case berthv1alpha1.WeighRoom:
		_, counted = s.room[resourceOf(by)]
	case berthv1alpha1.WeighAllocatable:
		counted = s.observed
	case berthv1alpha1.WeighEqual, berthv1alpha1.WeighLabel:
	}
	return !counted && (len(s.allocatable) > 0 || !s.observed)
}

// mean returns the mean of some of the amounts, rounded down, 0 of none. What is left of each
// division is added up, too: the mean of 1 and 1 is not 0.
func mean(amounts []int64, of []int) int64 {
	n, whole, rest := int64(len(of)), int64(0), int64(0)
	if n == 0 {
		return 0
	}
	for _, i := range of {
		whole += amounts[i] / n
		rest += amounts[i] % n
	}
	return whole + rest/n
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
	return weighedBy(placement, berthv1alpha1.WeighRoom, resourceOf)
}

// ByPool returns the ClusterResources by whose pools a placement weighs clusters.
func ByPool(placement *berthv1alpha1.Placement) []string {
	return weighedBy(placement, berthv1alpha1.WeighPool, func(by *berthv1alpha1.ClusterWeights) string { return by.ClusterResource })
}

// weighedBy returns what a placement weighs clusters by in groups that do so in one way.
func weighedBy(
	placement *berthv1alpha1.Placement, way berthv1alpha1.ClusterWeightType, what func(*berthv1alpha1.ClusterWeights) string,
) (names []string) {
	for i := range placement.ClusterGroups {
		if by := placement.ClusterGroups[i].ClusterWeights; by != nil && by.Type == way {
			names = append(names, what(by))
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

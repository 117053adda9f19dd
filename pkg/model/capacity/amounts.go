// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package capacity

import (
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/pool"
)

// maxResources bounds the resources, and the ClusterResources, of which the status of a Cluster
// tells.
const maxResources = 32

// Allocatable sums up what nodes have of the resources, of too many the first by name.
func Allocatable(nodes []*corev1.Node) corev1.ResourceList {
	sums := corev1.ResourceList{}
	for _, node := range nodes {
		for name, amount := range node.Status.Allocatable {
			sum := sums[name]
			sum.Add(amount)
			sums[name] = sum
		}
	}
	names := slices.Sorted(maps.Keys(sums))
	for _, name := range names[min(len(names), maxResources):] {
		delete(sums, name)
	}
	return sums
}

// Pools counts the units of the pools that the nodes of a Cluster draw on, of too many
// ClusterResources the first of the list. Where they draw on none of a ClusterResource that
// policies ask for there are 0, so that it is known to have been counted: unless it has no pools,
// like one that nobody has looked at yet.
func (a *Asked) Pools(nodes []*corev1.Node, resources []*pool.Resource) []berthv1alpha1.ClusterPools {
	var counted []berthv1alpha1.ClusterPools
	for _, r := range resources {
		drawn := sets.New[int32]()
		for _, node := range nodes {
			drawn.Insert(r.Select(node.Labels)...)
		}
		if len(drawn) == 0 && (len(r.Pools()) == 0 || !a.pools[r.Name()]) {
			continue
		}
		if len(counted) == maxResources {
			break
		}
		counted = append(counted, berthv1alpha1.ClusterPools{ClusterResource: r.Name(), Units: unitsOf(r, drawn)})
	}
	return counted
}

// unitsOf returns what some of the pools of a ClusterResource have together, or the smallest one if
// pods draw on all of them.
func unitsOf(r *pool.Resource, drawn sets.Set[int32]) int64 {
	all, least := int64(0), int64(math.MaxInt64)
	for i := range drawn {
		units := r.Pools()[i].Allocatable
		all += min(units, math.MaxInt64-all)
		least = min(least, units)
	}
	if r.AllOf() && len(drawn) > 0 {
		return least
	}
	return all
}

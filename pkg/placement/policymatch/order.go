// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policymatch

import (
	"errors"
	"fmt"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/apportion"
)

// MaxClusters is the largest number of clusters that one policy can share replicas over: as many as
// its status can tell of. The schema bounds the entries of staticWeightList and the names in each,
// but not their product.
const MaxClusters = 1000

// Order returns the seat order that the weights of a policy define. It fails if the weights cannot
// be used: a cluster is listed twice, a weight or bound is out of range, a number of replicas is
// given together with them, or there are more than MaxClusters clusters.
func Order(policy *berthv1alpha1.PropagationPolicy) (*apportion.Order, error) {
	var clusters []apportion.Cluster
	for i := range policy.Spec.Placement.StaticWeightList {
		entry := &policy.Spec.Placement.StaticWeightList[i]
		if err := check(entry); err != nil {
			return nil, fmt.Errorf("spec.placement.staticWeightList[%d]: %w", i, err)
		}
		if len(clusters)+len(entry.ClusterNames) > MaxClusters {
			return nil, fmt.Errorf("spec.placement.staticWeightList[%d]: more than %d clusters", i, MaxClusters)
		}
		for _, name := range entry.ClusterNames {
			clusters = append(clusters, cluster(name, i, entry))
		}
	}
	order, err := apportion.NewOrder(clusters)
	if err != nil {
		return nil, fmt.Errorf("spec.placement.staticWeightList: %w", err)
	}
	return order, nil
}

func check(entry *berthv1alpha1.StaticClusterWeight) error {
	switch {
	case entry.Replicas == nil && entry.Weight < 1:
		return fmt.Errorf("weight %d is less than 1", entry.Weight)
	case entry.Replicas != nil && (entry.Weight != 0 || entry.Min != nil || entry.Max != nil):
		return errors.New("replicas is given together with weight, min or max")
	}
	return nil
}

// cluster returns a cluster of the entry with the given index.
func cluster(name string, index int, entry *berthv1alpha1.StaticClusterWeight) apportion.Cluster {
	if entry.Replicas != nil {
		n := int64(*entry.Replicas)
		return apportion.Cluster{Name: name, Min: n, Max: &n, Turn: int32(index) + 1}
	}
	c := apportion.Cluster{Name: name, Weight: entry.Weight}
	if entry.Min != nil {
		c.Min = int64(*entry.Min)
	}
	if entry.Max != nil {
		c.Max = new(int64(*entry.Max))
	}
	return c
}

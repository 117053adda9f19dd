// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policymatch

import (
	"fmt"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/apportion"
)

// MaxClusters is the largest number of clusters that one policy can share replicas over: as many as
// its status can tell of. The schema bounds the entries of staticWeightList and the names in each,
// but not their product.
const MaxClusters = 1000

// Order returns the seat order that the weights of a policy define. It fails if the weights cannot
// be used: a cluster is listed twice, a weight or bound is out of range, or there are more than
// MaxClusters clusters.
func Order(policy *berthv1alpha1.PropagationPolicy) (*apportion.Order, error) {
	var clusters []apportion.Cluster
	for i := range policy.Spec.Placement.StaticWeightList {
		entry := &policy.Spec.Placement.StaticWeightList[i]
		if entry.Weight < 1 {
			return nil, fmt.Errorf("spec.placement.staticWeightList[%d]: weight %d is less than 1", i, entry.Weight)
		}
		if len(clusters)+len(entry.ClusterNames) > MaxClusters {
			return nil, fmt.Errorf("spec.placement.staticWeightList[%d]: more than %d clusters", i, MaxClusters)
		}
		for _, name := range entry.ClusterNames {
			clusters = append(clusters, cluster(name, entry))
		}
	}
	order, err := apportion.NewOrder(clusters)
	if err != nil {
		return nil, fmt.Errorf("spec.placement.staticWeightList: %w", err)
	}
	return order, nil
}

func cluster(name string, entry *berthv1alpha1.StaticClusterWeight) apportion.Cluster {
	c := apportion.Cluster{Name: name, Weight: entry.Weight}
	if entry.Min != nil {
		c.Min = int64(*entry.Min)
	}
	if entry.Max != nil {
		c.Max = new(int64(*entry.Max))
	}
	return c
}

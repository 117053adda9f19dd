// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policymatch

import (
	"fmt"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/apportion"
)

// Order returns the seat order that the weights of a policy define. It fails if the weights cannot be used: a cluster is
// listed twice, or a weight or bound is out of range.
func Order(policy *berthv1alpha1.PropagationPolicy) (*apportion.Order, error) {
	var clusters []apportion.Cluster
	for i, entry := range policy.Spec.Placement.StaticWeightList {
		if entry.Weight < 1 {
			return nil, fmt.Errorf("spec.placement.staticWeightList[%d]: weight %d is less than 1", i, entry.Weight)
		}
		for _, name := range entry.ClusterNames {
			c := apportion.Cluster{Name: name, Weight: entry.Weight}
			if entry.Min != nil {
				c.Min = int64(*entry.Min)
			}
			if entry.Max != nil {
				limit := int64(*entry.Max)
				c.Max = &limit
			}
			clusters = append(clusters, c)
		}
	}
	order, err := apportion.NewOrder(clusters)
	if err != nil {
		return nil, fmt.Errorf("spec.placement.staticWeightList: %w", err)
	}
	return order, nil
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package charges

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/grants"
	"berth.dev/berth/pkg/placement/pool"
)

// Publish returns the ClusterResource with the pools of its spec in its status; with an empty spec
// as it is. Pools that cannot be used are published all the same, and the scheduler tells the pods
// that wait. An amount that would be published as another one is not; then there are no pools, and
// an error.
func Publish(object *berthv1alpha1.ClusterResource) (*berthv1alpha1.ClusterResource, error) {
	published := object.DeepCopy()
	if len(object.Spec.Capacity) == 0 {
		return published, nil
	}
	for i := range object.Spec.Capacity {
		declared := &object.Spec.Capacity[i]
		if err := pool.Check(declared.Quantity); err != nil {
			published.Status.Capacity, published.Status.Allocatable = nil, nil
			return published, fmt.Errorf("pool %s: the quantity %w", declared.Name, err)
		}
	}
	published.Status.Capacity, published.Status.Allocatable = published.Spec.Capacity, publishable(object)
	return published, nil
}

// publishable returns the pools of the spec, each as large as its grants allow.
func publishable(object *berthv1alpha1.ClusterResource) []berthv1alpha1.ClusterResourceQuantity {
	granted, held, before := map[string]resource.Quantity{}, map[string]resource.Quantity{}, Quantities(object.Status.Allocatable)
	for i := range object.Status.Grants {
		g := &object.Status.Grants[i]
		sum := granted[g.Pool]
		sum.Add(g.Quantity)
		granted[g.Pool] = sum
	}
	for i := range object.Status.Allocated {
		held[object.Status.Allocated[i].Name] = object.Status.Allocated[i].Quantity
	}
	pools := slices.Clone(object.Spec.Capacity)
	for i := range pools {
		name := pools[i].Name
		pools[i].Quantity = grants.Publishable(pools[i].Quantity, before[name], granted[name], held[name])
	}
	return pools
}

// Quantities returns the quantities of pools by their names.
func Quantities(pools []berthv1alpha1.ClusterResourceQuantity) map[string]resource.Quantity {
	found := make(map[string]resource.Quantity, len(pools))
	for i := range pools {
		found[pools[i].Name] = pools[i].Quantity
	}
	return found
}

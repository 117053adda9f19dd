// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grouping

import (
	"errors"
	"fmt"
	"slices"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/apportion"
)

// MaxClusters is the largest number of clusters that one policy can list with their weights: as
// many as its status can tell of. The schema bounds the entries of staticWeightList and the names
// in each, but not their product.
const MaxClusters = 1000

// static returns the clusters of a staticWeightList. One that is closed has no share: it stays
// among them, so that what still runs there can be told. It fails if the weights cannot be used: a
// weight is out of range, a number of replicas is given together with weights or bounds, or there
// are more than MaxClusters clusters.
func static(placement *berthv1alpha1.Placement, shut closed) ([]apportion.Cluster, error) {
	var clusters []apportion.Cluster
	for i := range placement.StaticWeightList {
		entry := &placement.StaticWeightList[i]
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
	return withoutShares(clusters, shut)
}

// newOrder returns the seat order of clusters that static has returned. The error names the field
// that is wrong.
func newOrder(clusters []apportion.Cluster) (*apportion.Order, error) {
	order, err := apportion.NewOrder(clusters)
	if err != nil {
		return nil, fmt.Errorf("spec.placement.staticWeightList: %w", err)
	}
	return order, nil
}

// withoutShares takes their shares from clusters that are closed. What is wrong with one is wrong
// while it is closed, too.
func withoutShares(clusters []apportion.Cluster, shut closed) ([]apportion.Cluster, error) {
	if !slices.ContainsFunc(clusters, func(c apportion.Cluster) bool { return shut.has(c.Name) }) {
		return clusters, nil
	}
	if _, err := newOrder(clusters); err != nil {
		return nil, err
	}
	for i := range clusters {
		if name := clusters[i].Name; shut.has(name) {
			clusters[i] = apportion.Cluster{Name: name, Max: new(int64)}
		}
	}
	return clusters, nil
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

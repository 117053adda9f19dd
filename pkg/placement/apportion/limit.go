// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apportion

import (
	"fmt"
	"maps"
	"slices"
)

// Limit returns the clusters with their capacity as an additional maximum: the
// effective Max is the smaller of Max and capacity, and a Min above it is lowered
// to it, so that what a full cluster cannot hold goes to the others. Capacities
// are in replicas, by cluster name; a cluster without an entry stays as it is.
// The input is not changed. It fails, naming the cluster, on a negative capacity
// and on a capacity for a cluster that is not in the list.
func Limit(clusters []Cluster, capacity map[string]int64) ([]Cluster, error) {
	limited := make([]Cluster, 0, len(clusters))
	known := make(map[string]bool, len(clusters))
	for _, c := range clusters {
		known[c.Name] = true
		if room, ok := capacity[c.Name]; ok {
			if room < 0 {
				return nil, fmt.Errorf("cluster %q: capacity %d is negative", c.Name, room)
			}
			c = c.limit(room)
		}
		limited = append(limited, c)
	}
	for _, name := range slices.Sorted(maps.Keys(capacity)) {
		if !known[name] {
			return nil, fmt.Errorf("cluster %q has a capacity but is not one of the clusters", name)
		}
	}
	return limited, nil
}

func (c Cluster) limit(room int64) Cluster {
	if room < c.max() {
		c.Max = &room
	}
	c.Min = min(c.Min, c.max())
	return c
}

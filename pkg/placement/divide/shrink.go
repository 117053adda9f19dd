// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package divide

import (
	"slices"

	"berth.dev/berth/pkg/placement/apportion"
)

// shrink takes replicas away, not more than clusters hold. Closed clusters come first, then those
// beyond MaxClusters, then the least preferred ones; Spread takes in proportion to what clusters
// hold, Binpack empties the smallest. As many clusters as MinClusters asks for keep a replica.
func (d *divider) shrink(replicas int64) (Division, error) {
	result := d.unchanged()
	used := d.all(func(c int) bool { return d.inUse(c) == 1 })
	d.sort(used, d.open, d.preference, d.held)
	keep := min(d.MinClusters, int64(len(used)), d.Replicas)
	kept := make(map[int]int64, keep)
	for _, cluster := range used[:keep] {
		kept[cluster] = 1
	}
	surplus := map[int]bool{}
	if d.MaxClusters > 0 && d.MaxClusters < int64(len(used)) {
		for _, cluster := range used[d.MaxClusters:] {
			surplus[cluster] = true
		}
	}
	slices.Reverse(used)
	alike := func(a, b int) bool {
		return d.open(a) == d.open(b) && d.preference(a) == d.preference(b) && !surplus[a] && !surplus[b]
	}
	for _, members := range d.tiers(used, alike) {
		r, err := newRun(members, func(cluster int) apportion.Cluster {
			most := d.held(cluster) - kept[cluster]
			return apportion.Cluster{Name: d.clusters[cluster].Name, Weight: d.held(cluster), Max: &most}
		})
		if err != nil {
			return Division{}, err
		}
		replicas -= r.share(replicas, result.Shares, -1)
	}
	result.kept = slices.Clone(result.Shares)
	return result, nil
}

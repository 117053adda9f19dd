// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package divide

import (
	"cmp"
	"slices"
	"strings"
)

// divider divides by free capacity. Clusters are referred to by their index.
type divider struct {
	*Load
	clusters []Target
}

// total returns how many replicas all clusters hold.
func (d *divider) total() int64 {
	var total int64
	for i := range d.clusters {
		total += d.clusters[i].Held
	}
	return total
}

// room returns the number of further replicas that a cluster takes.
func (d *divider) room(cluster int) int64 {
	if d.clusters[cluster].Closed {
		return 0
	}
	return d.clusters[cluster].Free
}

// rooms returns the number of further replicas that clusters take together.
func (d *divider) rooms(clusters []int) int64 {
	var sum int64
	for _, cluster := range clusters {
		sum += d.room(cluster)
	}
	return sum
}

// held returns the number of replicas that a cluster holds.
func (d *divider) held(cluster int) int64 { return d.clusters[cluster].Held }

// inUse returns 1 for a cluster that holds replicas, else 0.
func (d *divider) inUse(cluster int) int64 { return min(d.held(cluster), 1) }

// open returns 1 for a cluster that is not closed, else 0.
func (d *divider) open(cluster int) int64 {
	if d.clusters[cluster].Closed {
		return 0
	}
	return 1
}

func (d *divider) preference(cluster int) int64 { return d.clusters[cluster].Preference }

// all returns the clusters that a condition holds for, as they were given.
func (d *divider) all(condition func(cluster int) bool) []int {
	var list []int
	for i := range d.clusters {
		if condition(i) {
			list = append(list, i)
		}
	}
	return list
}

// sort sorts clusters by the numbers that the keys tell of them, larger ones first, then by name.
func (d *divider) sort(clusters []int, keys ...func(cluster int) int64) {
	slices.SortFunc(clusters, func(a, b int) int {
		order := 0
		for _, key := range keys {
			order = cmp.Or(order, cmp.Compare(key(b), key(a)))
		}
		return cmp.Or(order, strings.Compare(d.clusters[a].Name, d.clusters[b].Name))
	})
}

// tiers takes a sorted list apart into the groups that are served one after the other. Spread
// serves clusters together that are alike, Binpack fills or empties one cluster before it begins
// with the next.
func (d *divider) tiers(sorted []int, alike func(a, b int) bool) [][]int {
	var tiers [][]int
	for i, cluster := range sorted {
		if i > 0 && d.Strategy == Spread && alike(cluster, sorted[i-1]) {
			tiers[len(tiers)-1] = append(tiers[len(tiers)-1], cluster)
			continue
		}
		tiers = append(tiers, []int{cluster})
	}
	return tiers
}

// unchanged returns the division before anything is placed or taken away.
func (d *divider) unchanged() Division {
	shares := make([]int64, len(d.clusters))
	for i := range d.clusters {
		shares[i] = d.held(i)
	}
	return Division{Shares: shares, clusters: d.clusters, kept: slices.Clone(shares)}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package divide

import "berth.dev/berth/pkg/placement/apportion"

// grow places further replicas and leaves those that clusters hold where they are.
func (d *divider) grow(replicas int64) (Division, error) {
	result := d.unchanged()
	usable := d.usable(replicas)
	reserved, reserve := d.reserve(usable, replicas)
	if d.Strategy == Binpack {
		d.sort(usable, d.preference, d.inUse, d.room)
	} else {
		d.sort(usable, d.preference)
	}
	alike := func(a, b int) bool { return d.preference(a) == d.preference(b) }
	for _, members := range d.tiers(usable, alike) {
		for _, cluster := range members {
			reserve -= reserved[cluster]
		}
		r, err := newRun(members, func(cluster int) apportion.Cluster {
			room := d.room(cluster)
			return apportion.Cluster{Name: d.clusters[cluster].Name, Weight: room, Min: reserved[cluster], Max: &room}
		})
		if err != nil {
			return Division{}, err
		}
		replicas -= r.share(replicas-reserve, result.Shares, 1)
		result.runs = append(result.runs, r)
	}
	result.Unplaced = replicas
	return result, nil
}

// usable returns the clusters that replicas may be added to, in any order: all with room, or as
// many as MaxClusters leaves.
func (d *divider) usable(replicas int64) []int {
	used := d.all(func(c int) bool { return d.room(c) > 0 && d.inUse(c) == 1 })
	unused := d.all(func(c int) bool { return d.room(c) > 0 && d.inUse(c) == 0 })
	if d.MaxClusters == 0 {
		return append(used, unused...)
	}
	inUse := len(d.all(func(c int) bool { return d.inUse(c) == 1 }))
	return append(used, d.choose(unused, max(0, d.MaxClusters-int64(inUse)), replicas-d.rooms(used))...)
}

// choose returns so many of the clusters, all if there are fewer. No choice places more of the
// replicas, and among those that place as many it is the one that preference, then room, then the
// name put first.
func (d *divider) choose(clusters []int, count, replicas int64) []int {
	if count >= int64(len(clusters)) {
		return clusters
	}
	n := int(count)
	byRoom := append([]int(nil), clusters...)
	d.sort(byRoom, d.room)
	target := min(replicas, d.rooms(byRoom[:n]))
	d.sort(clusters, d.preference, d.room)
	chosen := make([]int, 0, n)
	var room int64
	for i, cluster := range clusters {
		if len(chosen) == n {
			break
		}
		rest := append([]int(nil), clusters[i+1:]...)
		d.sort(rest, d.room)
		if more := rest[:min(len(rest), n-len(chosen)-1)]; room+d.room(cluster)+d.rooms(more) >= target {
			chosen = append(chosen, cluster)
			room += d.room(cluster)
		}
	}
	return chosen
}

// reserve returns which of the usable clusters that hold nothing must get a replica, so that
// MinClusters hold some, and how many these are.
func (d *divider) reserve(usable []int, replicas int64) (reserved map[int]int64, count int64) {
	unused := make([]int, 0, len(usable))
	for _, cluster := range usable {
		if d.inUse(cluster) == 0 {
			unused = append(unused, cluster)
		}
	}
	inUse := len(d.all(func(c int) bool { return d.inUse(c) == 1 }))
	count = max(0, min(d.MinClusters-int64(inUse), int64(len(unused)), replicas))
	d.sort(unused, d.preference, d.room)
	reserved = make(map[int]int64, count)
	for _, cluster := range unused[:count] {
		reserved[cluster] = 1
	}
	return reserved, count
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"slices"

	"berth.dev/berth/pkg/placement/divide"
)

// lastResort is a preference below all that users can give.
const lastResort = -1

// waits reports whether what a cluster has waits for it.
func (c *SelectedCluster) waits() bool { return c.Away && !c.Left }

// leave takes those of the clusters out that are left, if another one is eligible. By room one that
// is back takes what finds no room elsewhere. Copies stay: the other clusters have theirs, and this
// one is whole again as soon as it is back.
func (p *planner) leave(clusters []SelectedCluster) []SelectedCluster {
	if p.Strategy == divide.Replication {
		return clusters
	}
	leaves := p.leaving(clusters)
	clusters = slices.DeleteFunc(clusters, func(c SelectedCluster) bool { return leaves(&c) && (c.Away || !p.Strategy.ByRoom()) })
	for i := range clusters {
		if leaves(&clusters[i]) {
			clusters[i].Preference = lastResort
		}
	}
	return clusters
}

// leaving returns what reports whether a cluster is left for others of these. It says the same
// without those that are left already.
func (p *planner) leaving(clusters []SelectedCluster) (leaves func(*SelectedCluster) bool) {
	eligible, remains := p.eligible(clusters), slices.ContainsFunc(clusters, func(c SelectedCluster) bool { return p.remains(&c) })
	return func(c *SelectedCluster) bool { return c.Left && (eligible || c.WasLeft && remains) }
}

// eligible reports whether there is a cluster for which others can be left.
func (p *planner) eligible(clusters []SelectedCluster) bool {
	return slices.ContainsFunc(clusters, func(c SelectedCluster) bool { return p.welcomes(&c) })
}

// welcomes reports whether a cluster is one for which others can be left.
func (p *planner) welcomes(c *SelectedCluster) bool { return c.Open && !c.Left && p.weighted(c) }

// remains reports whether a cluster is one for which others stay left that were left before: it may
// be offline itself, as long as what it has waits for it.
func (p *planner) remains(c *SelectedCluster) bool {
	return !c.Left && (c.Open || c.waits()) && p.weighted(c)
}

// weighted reports whether a cluster has a weight, or needs none.
func (p *planner) weighted(c *SelectedCluster) bool {
	return p.Strategy != divide.Static || c.Weight > 0
}

// left names the clusters that are left for others, by name.
func (p *planner) left() (names []string) {
	leaves := p.leaving(p.result.Clusters)
	for i := range p.Clusters {
		if c := &p.Clusters[i]; leaves(c) || c.Left && p.result.cluster(c.Name) == nil {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	return names
}

// isLeft reports whether a cluster is left for others, and not back.
func (p *planner) isLeft(cluster string) bool {
	return slices.Contains(p.result.Left, cluster) && p.result.cluster(cluster) == nil
}

// homeOf returns the cluster of the listed object: the one where it is, as long as that can be
// used. What has no copies elsewhere moves when that is left.
func (p *planner) homeOf(feed *Feed) string {
	stays := p.result.cluster(feed.Home)
	if stays != nil && (feed.Copyable || !stays.Left || !p.eligible(p.result.Clusters)) {
		return feed.Home
	}
	for i := range p.result.Clusters {
		if c := &p.result.Clusters[i]; !c.Left && (stays == nil || c.Open) {
			return c.Name
		}
	}
	return p.result.Clusters[0].Name
}

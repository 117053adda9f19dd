// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle

// replicate runs the listed object in one cluster and copies of it in the others. Somebody may have
// scaled a copy, so one that exists counts with its own number of replicas.
func (p *planner) replicate(feed *Feed) FeedDivision {
	clusters := p.result.Clusters
	if p.result.Problem != nil || feed.Wanted == nil {
		return FeedDivision{Shares: feed.Recorded, NotCopied: p.result.Problem == nil && feed.HasPods && len(clusters) > 1}
	}
	home := p.homeOf(feed)
	d := FeedDivision{Home: home, Shares: map[string]int64{home: *feed.Wanted}}
	if !feed.Copyable {
		d.NotCopied = len(clusters) > 1
		return d
	}
	for _, c := range clusters {
		if c.Name == home {
			continue
		}
		replicas, exists := feed.Copies[c.Name]
		if !exists {
			replicas = *feed.Wanted
		}
		d.Copies = append(d.Copies, c.Name)
		d.Shares[c.Name] = replicas
		d.Copied += replicas
	}
	return d
}

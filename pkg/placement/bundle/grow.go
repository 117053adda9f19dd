// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"maps"
	"slices"

	"berth.dev/berth/pkg/placement/divide"
)

// grow divides what a Subscription wants beyond what it keeps.
func (p *planner) grow() error {
	if !p.result.Admitted() {
		return p.admit()
	}
	if !p.Strategy.ByRoom() {
		return nil
	}
	for i := range p.Feeds {
		if p.Feeds[i].Wanted == nil {
			continue
		}
		if err := p.move(i); err != nil {
			return p.failed(i, err)
		}
	}
	return nil
}

// place places the difference between what a feed wants and what it keeps, and reserves room for
// it.
func (p *planner) place(i int) error {
	feed, division := &p.Feeds[i], &p.result.Feeds[i]
	if Sum(division.Held) == feed.due() && !p.rebalances() || p.result.Problem != nil {
		division.stay(feed)
		return nil
	}
	demand := divide.Load{
		Strategy: p.Strategy, Replicas: feed.due(), Rebalance: p.rebalances(), MinClusters: p.MinClusters, MaxClusters: p.MaxClusters,
	}
	// Clusters may share a limit, such as a pool of a ClusterResource: each alone has room, but not
	// all of them at once. What does not fit then is room that a cluster lacks, so that each turn
	// knows better.
	for clusters := p.clustersFor(i); ; {
		if err := division.divide(demand, clusters); err != nil {
			return err
		}
		division.Unplaced += *feed.Wanted - feed.due()
		mark := p.room.Mark()
		if p.reserveShares(i, clusters) {
			return nil
		}
		p.room.Rollback(mark)
	}
}

// reserveShares takes the room for the shares of a feed. Where less fits than a cluster alone has
// room for, it corrects that and reports false.
func (p *planner) reserveShares(i int, clusters []divide.Target) bool {
	division, fits := &p.result.Feeds[i], true
	for k := range clusters {
		c := &clusters[k]
		more := division.Shares[c.Name] - division.Held[c.Name]
		if c.Closed || more <= 0 {
			continue
		}
		if got := p.reserve(i, c.Name, more); got < more {
			c.Free, fits = got, false
		}
	}
	return fits
}

// Enough is how much room is counted at least, whatever is wanted, so that clusters get in
// proportion to their room. To count more takes time and changes little.
const Enough = 1000

// clustersFor returns the clusters that can be used for a feed, and those that hold replicas of it.
func (p *planner) clustersFor(i int) []divide.Target {
	held := p.result.Feeds[i].Held
	clusters := make([]divide.Target, 0, len(p.result.Clusters)+len(held))
	for _, c := range p.result.Clusters {
		into := divide.Target{Name: c.Name, Preference: c.Preference, Held: held[c.Name], Closed: !c.Open}
		if c.Open && !p.Feeds[i].Capped[c.Name] {
			into.Free = p.count(i, c.Name, max(Enough, *p.Feeds[i].Wanted))
		}
		clusters = append(clusters, into)
	}
	for _, name := range slices.Sorted(maps.Keys(held)) {
		if p.result.cluster(name) == nil {
			clusters = append(clusters, divide.Target{Name: name, Held: held[name], Closed: true})
		}
	}
	return clusters
}

// divide makes the shares those of a division over the clusters.
func (d *FeedDivision) divide(demand divide.Load, clusters []divide.Target) error {
	division, err := divide.Divide(demand, clusters)
	if err != nil {
		return err
	}
	d.Shares, d.Unplaced = map[string]int64{}, division.Unplaced
	for i, n := range division.Shares {
		if n > 0 {
			d.Shares[clusters[i].Name] = n
		}
	}
	return nil
}

// stay makes the shares what is held.
func (d *FeedDivision) stay(feed *Feed) {
	d.Shares, d.Unplaced = d.Held, *feed.Wanted-Sum(d.Held)
}

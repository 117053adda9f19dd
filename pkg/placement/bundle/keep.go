// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"maps"
	"slices"

	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/placement/divide"
)

// keep finds out what of the division of a feed still holds, and reserves room for what of that has
// no node yet.
func (p *planner) keep(i int) (err error) {
	feed, division := &p.Feeds[i], &p.result.Feeds[i]
	switch {
	case feed.Obstacle != "":
		if feed.KeepsRecord {
			division.Shares = feed.Recorded
		}
	case p.Strategy == divide.Replication:
		*division = p.replicate(feed)
	case feed.Wanted == nil:
	case p.Strategy == divide.Static:
		err = p.keepStatic(i)
	default:
		var before map[string]int64
		before, err = p.inForce(feed)
		division.Held = p.retain(i, before)
	}
	return err
}

// keepStatic divides a feed by weight: that depends on nothing that was before, but for clusters
// that are cordoned, which keep what runs there of their shares while the others have the rest.
func (p *planner) keepStatic(i int) error {
	feed, division := &p.Feeds[i], &p.result.Feeds[i]
	if p.result.Problem != nil {
		division.Shares = feed.Recorded
		return nil
	}
	clusters := make([]divide.Target, len(p.result.Clusters))
	for i, c := range p.result.Clusters {
		clusters[i] = divide.Target{Name: c.Name, Weight: c.Weight}
	}
	if err := division.divide(divide.Load{Strategy: divide.Static, Replicas: *feed.Wanted}, clusters); err != nil {
		return err
	}
	if err := p.passOn(i, clusters); err != nil {
		return err
	}
	if p.result.Admission == Kept {
		division.Lacking = p.fill(i)
	}
	return nil
}

// passOn gives the shares of clusters that are cordoned to others, as far as they do not run.
// Where there are no others they wait.
func (p *planner) passOn(i int, clusters []divide.Target) error {
	feed, division := &p.Feeds[i], &p.result.Feeds[i]
	stays := map[string]int64{}
	var others []divide.Target
	weighted := false
	for i, c := range p.result.Clusters {
		if !c.Cordoned {
			others, weighted = append(others, clusters[i]), weighted || c.Weight > 0
		} else if n := min(division.Shares[c.Name], feed.Bound[c.Name]); n > 0 {
			stays[c.Name] = n
		}
	}
	if len(others) == len(clusters) || !weighted {
		return nil
	}
	err := division.divide(divide.Load{Strategy: divide.Static, Replicas: *feed.Wanted - Sum(stays)}, others)
	maps.Copy(division.Shares, stays)
	return err
}

// fill reserves room for all that has a share, a pod and no node, and returns how many replicas
// find none.
func (p *planner) fill(i int) (missing int64) {
	feed, stalled := &p.Feeds[i], p.Feeds[i].Stalled
	for _, c := range p.result.Clusters {
		pending := max(0, p.result.Feeds[i].Shares[c.Name]-feed.Bound[c.Name])
		without := min(pending, stalled)
		stalled -= without
		if pending -= without; pending > 0 {
			lost := pending - p.reserve(i, c.Name, pending)
			p.lose(i, c.Name, lost)
			missing += lost
		}
	}
	return missing
}

// retain returns what of a division has a node, and if pods may start what has room, which it
// reserves. What waits for its cluster is kept whole, and nothing where the cluster was left.
func (p *planner) retain(i int, before map[string]int64) map[string]int64 {
	held := map[string]int64{}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if p.isLeft(name) {
			continue
		}
		if p.await(i, name, before[name]) {
			held[name] = before[name]
			continue
		}
		kept := min(before[name], p.Feeds[i].Bound[name])
		capped := p.Strategy.ByRoom() && p.Feeds[i].Capped[name]
		if p.result.Open(name) && p.result.Admitted() && !p.rebalances() && !capped {
			kept += p.reserve(i, name, before[name]-kept)
		}
		p.lose(i, name, before[name]-kept)
		if kept > 0 {
			held[name] = kept
		}
	}
	return held
}

// await reports whether a share waits for its cluster, and then holds room there for what of it has
// no node: on the nodes that still take pods, and on those that have failed.
func (p *planner) await(i int, cluster string, share int64) bool {
	c := p.result.cluster(cluster)
	if c == nil || !c.waits() || !p.result.Admitted() || p.rebalances() {
		return false
	}
	if pending := share - p.Feeds[i].Bound[cluster]; pending > 0 {
		if c.Open {
			pending -= p.reserve(i, cluster, pending)
		}
		p.room.Hold(Ref{p.index, i}, cluster, pending)
	}
	return true
}

// inForce returns how a feed is divided now: as recorded, else as published, else as its pods run
// in clusters that can be used. Of more replicas than wanted the last seats are left out, as the
// controllers of workloads delete pods, but none of a pod that runs if no more run than are wanted.
func (p *planner) inForce(feed *Feed) (map[string]int64, error) {
	before := feed.Recorded
	if len(before) == 0 {
		before = feed.Published
	}
	if len(before) == 0 {
		before = maps.Clone(feed.Bound)
		maps.DeleteFunc(before, func(name string, _ int64) bool { return p.result.cluster(name) == nil })
	}
	if Sum(before) <= feed.due() {
		return p.withBound(feed, before), nil
	}
	seats := p.result.Seats(before)
	if feed.Stalled > 0 || feed.running(before) <= feed.due() {
		// Nothing that runs is to go: what has no node gives its seat up first. That may be other seats
		// than the last ones, of pods that waited, or were not ready, when their controller deleted them.
		for i := range seats {
			seats[i].Min = min(*seats[i].Max, feed.Bound[seats[i].Name])
		}
	}
	order, err := apportion.NewOrder(seats)
	if err != nil {
		return nil, err
	}
	after := map[string]int64{}
	shares, _ := order.Shares(feed.due())
	for i, n := range shares {
		if n > 0 {
			after[order.Name(i)] = n
		}
	}
	return after, nil
}

// running returns how many of the shares of a division have a pod on a node.
func (f *Feed) running(shares map[string]int64) (n int64) {
	for name, share := range shares {
		n += min(share, f.Bound[name])
	}
	return n
}

// withBound adds to a division what runs beyond it in clusters that can be used, up to what the
// feed wants. A share that was given up for want of room, while its pods were being bound, comes
// back so.
func (p *planner) withBound(feed *Feed, before map[string]int64) map[string]int64 {
	lacking, after := feed.due()-Sum(before), maps.Clone(before)
	for _, c := range p.result.Clusters {
		if more := min(lacking, feed.Bound[c.Name]-before[c.Name]); more > 0 {
			after[c.Name] += more
			lacking -= more
		}
	}
	return after
}

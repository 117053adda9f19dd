// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"maps"
	"slices"
)

// lose notes that so many replicas of a feed were promised to a cluster that has no room for them
// now.
func (p *planner) lose(i int, cluster string, replicas int64) {
	if replicas <= 0 {
		return
	}
	if p.lost[i] == nil {
		p.lost[i] = map[string]int64{}
	}
	p.lost[i][cluster] = replicas
}

// hold holds what an admitted bundle has lost to nodes that are away, so that it is whole again
// once they are back: otherwise another bundle could take the units of a pool that half of it
// waits for. It holds at most limit replicas of the feed, and returns how many in which clusters.
func (p *planner) hold(i int, limit int64) map[string]int64 {
	held := map[string]int64{}
	if p.result.Admission != Kept || p.result.Problem != nil {
		return held
	}
	for _, name := range slices.Sorted(maps.Keys(p.lost[i])) {
		if limit <= 0 {
			break
		}
		if p.result.cluster(name) == nil {
			continue
		}
		n, release := p.room.Hold(Ref{p.index, i}, name, min(limit, p.lost[i][name]))
		if n > 0 {
			held[name] = n
			limit -= n
			p.holds[i] = append(p.holds[i], release)
		}
	}
	return held
}

// move places what a feed lacks. What is held for it where nodes are away is free for it elsewhere,
// but stays held as far as there is no room elsewhere.
func (p *planner) move(i int) error {
	for _, release := range p.holds[i] {
		release()
	}
	p.holds[i] = nil
	if err := p.place(i); err != nil {
		return err
	}
	feed, division := &p.Feeds[i], &p.result.Feeds[i]
	held := p.hold(i, division.Unplaced-(*feed.Wanted-feed.due()))
	if len(held) == 0 {
		return nil
	}
	division.Shares = maps.Clone(division.Shares)
	for name, n := range held {
		division.Shares[name] += n
		division.Unplaced -= n
		division.Lacking += n
	}
	return nil
}

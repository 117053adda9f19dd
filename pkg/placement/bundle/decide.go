// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"fmt"
	"math"
)

// planner decides about one Subscription.
type planner struct {
	*Subscription
	index  int
	room   RoomLedger
	result *Result
	// lost are, for each feed, the replicas that were promised to a cluster that has no room for them
	// now, and holds what is held for them there.
	lost  []map[string]int64
	holds [][]func()
}

// Decide divides the feeds of all Subscriptions, given in the order in which they are served, and
// returns a result for each. It fails, naming the Subscription and the feed, if numbers are out of
// the ranges that package divide takes.
func Decide(subscriptions []Subscription, room RoomLedger) ([]Result, error) {
	results, planners := make([]Result, len(subscriptions)), make([]planner, len(subscriptions))
	for i := range subscriptions {
		s, p := &subscriptions[i], &planners[i]
		*p = planner{s, i, room, &results[i], make([]map[string]int64, len(s.Feeds)), make([][]func(), len(s.Feeds))}
		p.result.Feeds = make([]FeedDivision, len(p.Feeds))
		p.result.Clusters, p.result.Problem = p.usable()
		p.result.Left = p.left()
		p.result.Admission, p.result.Provisional = p.standing()
		for feed := range p.Feeds {
			if err := p.keep(feed); err != nil {
				return nil, p.failed(feed, err)
			}
		}
	}
	for i := range planners {
		for feed := range planners[i].Feeds {
			planners[i].hold(feed, math.MaxInt64)
		}
	}
	for _, kept := range []bool{true, false} {
		for i := range planners {
			if (results[i].Admission == Kept) != kept {
				continue
			}
			if err := planners[i].grow(); err != nil {
				return nil, err
			}
		}
	}
	return results, nil
}

func (p *planner) failed(feed int, err error) error {
	return fmt.Errorf("dividing %s of Subscription %s: %w", p.Feeds[feed].Name, p.Name, err)
}

// rebalances reports whether the feeds are divided anew.
func (p *planner) rebalances() bool { return p.Rebalance && p.Strategy.ByRoom() }

// count returns for how many more replicas of a feed a cluster has room, at most limit.
func (p *planner) count(feed int, cluster string, limit int64) int64 {
	return p.room.Count(Ref{p.index, feed}, cluster, limit)
}

// reserve reserves room in a cluster for as many of the replicas as there is room for, and returns
// that number.
func (p *planner) reserve(feed int, cluster string, replicas int64) int64 {
	return p.room.Reserve(Ref{p.index, feed}, cluster, replicas)
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle

import "fmt"

// standing returns whether pods may start before anything is divided. The admission of a bundle
// lapses if it has had its time and no pod that it wants has a node.
func (p *planner) standing() (admission Gate, provisional bool) {
	switch {
	case !p.Bundled:
		return NotNeeded, false
	case !p.Pledged:
		return Waits, false
	}
	var wanted, bound, promised int64
	for i := range p.Feeds {
		if p.Feeds[i].Wanted != nil {
			wanted += *p.Feeds[i].Wanted
		}
		bound, promised = bound+Sum(p.Feeds[i].Bound), promised+Sum(p.Feeds[i].Recorded)
	}
	switch {
	case bound > 0 || wanted == 0:
		return Kept, false
	case p.Expired, promised == 0: // Of nothing, as the bundle wanted nothing when it was admitted.
		return Waits, false
	}
	return Kept, true
}

// admit grants a bundle that waits all that it wants, or nothing.
func (p *planner) admit() error {
	if p.result.Waiting = p.obstacle(); p.result.Waiting != "" {
		p.stay()
		return nil
	}
	mark := p.room.Mark()
	for i := range p.Feeds {
		feed := &p.Feeds[i]
		if feed.Wanted == nil {
			continue
		}
		missing, err := p.try(i)
		if err != nil {
			return p.failed(i, err)
		}
		if missing > 0 {
			p.result.Waiting = fmt.Sprintf("the bundle waits for room: %d of %d replicas of %s find none", missing, *feed.Wanted, feed.Name)
			p.result.Short = &i
			p.room.Rollback(mark)
			p.stay()
			return nil
		}
	}
	p.result.Admission, p.result.Provisional = Granted, true
	return nil
}

// obstacle returns why it is of no use to try to admit a bundle, empty if it can be tried.
func (p *planner) obstacle() string {
	if p.result.Problem != nil {
		return p.result.Problem.Message
	}
	for i := range p.Feeds {
		switch feed := &p.Feeds[i]; {
		case feed.Obstacle != "":
			return fmt.Sprintf("the bundle waits for %s: %s", feed.Name, feed.Obstacle)
		case feed.Stalled > 0:
			return fmt.Sprintf("the bundle waits for %s: %d of %d pods are not made", feed.Name, feed.Stalled, *feed.Wanted)
		}
	}
	return ""
}

// try divides a feed and returns how many of its replicas find no room.
func (p *planner) try(i int) (missing int64, err error) {
	if !p.Strategy.ByRoom() {
		return p.fill(i), nil
	}
	err = p.place(i)
	return p.result.Feeds[i].Unplaced, err
}

// stay leaves the feeds of a bundle that waits where their pods are.
func (p *planner) stay() {
	for i := range p.Feeds {
		feed, division := &p.Feeds[i], &p.result.Feeds[i]
		if feed.Wanted == nil {
			continue
		}
		if !p.Strategy.ByRoom() {
			division.Held = p.retain(i, division.Shares)
		}
		division.stay(feed)
	}
}

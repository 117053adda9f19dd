// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package caps decides when a cluster is given no more replicas of a feed than it runs, because the
// scheduler has found no node for those that it was given beside, and when it is given some again.
//
//	begins   a replica has been short of a node for GiveUpAfter, and nobody makes one for it
//	ends     there is more room than there was, or the pause is over
//
// The pause begins with GiveUpAfter and doubles each time, up to [LongestPause], until a replica
// gets a node. A cap that grows does not end with more room: the cluster gets so much more.
package caps

import (
	"slices"
	"time"
)

// LongestPause bounds how long a cluster goes without replicas that it might run.
const LongestPause = 10 * time.Minute

// State is what is remembered of a feed in a cluster. The zero value is a cluster of which nothing
// is known.
type State struct {
	// Short is since when replicas have been short of a node without one of them getting any, the
	// zero time if none is.
	Short time.Time

	// Capped reports that the cluster gets no more than it runs.
	Capped bool

	// Room is how much room there seemed to be at the least since the cap began, LimitedBy why the
	// scheduler thinks otherwise, and Retry when the cap ends. They count while there is a cap.
	Room      int64
	LimitedBy string
	Retry     time.Time

	// Pause is how long the last cap was to last, 0 if there was none since a replica got a node.
	Pause time.Duration

	// Bound is how many replicas had a node.
	Bound int64
}

// Observation is what is known of a feed in a cluster at a moment.
type Observation struct {
	Now time.Time

	// Share is the number of replicas that the cluster was given, Bound that of those with a node.
	Share, Bound int64

	// Waiting is since when a pod of the cluster has been waiting in vain, the zero time if none is,
	// and LimitedBy why.
	Waiting   time.Time
	LimitedBy string

	// Expected reports that somebody makes a node for the pods that wait.
	Expected bool

	// Room is the number of further replicas for which there seems to be room.
	Room int64

	// GiveUpAfter is how long replicas may be short of a node.
	GiveUpAfter time.Duration

	// Grows reports that a cap grows with the room, see [State.Limit], and ends by time only where
	// there seems to be some, as much as when it began: while a cluster is full it would be in vain to
	// give it replicas again.
	Grows bool
}

// Oldest returns since when replicas have been waiting in vain in each of the clusters that are
// short of some, given how many these are and how many replicas they miss together, and since when
// pods have been waiting; the zero time if that is not known. A pod that waits belongs to no
// cluster. It could run in each that is short of replicas, so all of these are known to be stuck
// only if as many pods wait.
func Oldest(waiting []time.Time, short int, missing int64) time.Time {
	if len(waiting) == 0 || short > 1 && int64(len(waiting)) < missing {
		return time.Time{}
	}
	return slices.MinFunc(waiting, time.Time.Compare)
}

// short reports whether replicas wait in vain.
func (o *Observation) short() bool { return o.Share > o.Bound && !o.Waiting.IsZero() }

// Due returns when a cap begins if nothing changes, the zero time if none does.
func (s State) Due(o *Observation) time.Time {
	if s.Capped || !o.short() {
		return time.Time{}
	}
	since := s.Short
	if since.IsZero() || o.Bound > s.Bound {
		since = o.Now
	}
	if o.Waiting.After(since) {
		since = o.Waiting
	}
	return since.Add(o.GiveUpAfter)
}

// Next returns the state after an observation.
func (s State) Next(o *Observation) State {
	due := s.Due(o)
	after := s
	if o.Bound > s.Bound {
		after.Pause, after.Short = 0, time.Time{}
	}
	after.Bound = o.Bound
	switch {
	case s.Capped && s.ends(o):
		return State{Pause: after.Pause, Bound: o.Bound}
	case s.Capped:
		after.Room, after.Short = min(s.Room, o.Room), time.Time{}
		if !o.Now.Before(s.Retry) {
			after.Retry = o.Now.Add(s.Pause)
		}
	case due.IsZero():
		after.Short = time.Time{}
	case o.Now.Before(due) || o.Expected:
		if after.Short.IsZero() {
			after.Short = o.Now
		}
	default:
		after.Pause = min(max(2*after.Pause, o.GiveUpAfter), LongestPause)
		after.Capped, after.Short = true, time.Time{}
		after.Room, after.LimitedBy, after.Retry = o.Room, o.LimitedBy, o.Now.Add(after.Pause)
	}
	return after
}

// ends reports whether a cap is over.
func (s State) ends(o *Observation) bool {
	if o.Grows {
		return !o.Now.Before(s.Retry) && o.Room > 0 && o.Room <= s.Room
	}
	return o.Room > s.Room || !o.Now.Before(s.Retry)
}

// Limit returns how many replicas a cluster gets at most under a cap that grows: those that it
// runs, and those for which there is more room than there seemed to be.
func (s State) Limit(o *Observation) int64 { return o.Bound + max(0, o.Room-s.Room) }

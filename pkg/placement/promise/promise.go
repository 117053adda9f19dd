// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package promise decides how long room is kept for replicas that are wanted, but of which nobody
// has made a pod.
//
//	begins    a wanted replica has no pod
//	renewed   when a pod is made
//	ends      when all have a pod, or some time after the last one was made
//
// A promise that has ended is over until there are pods: a quota may forbid them, or nothing may
// run that makes any.
package promise

import "time"

// DefaultLife is how long room is kept after the last pod was made, unless something else is set.
const DefaultLife = 5 * time.Minute

// State is what is remembered of the replicas of a workload that have no pod. The zero value is a
// workload whose replicas all have one.
type State struct {
	// Expires is when the promise ends, the zero time if all replicas have a pod. Made is how many
	// had one.
	Expires time.Time
	Made    int64
}

// Next returns the state after an observation: so many pods have been made, and so many more are
// wanted. Life is how long room is kept after the last one was made.
func (s State) Next(now time.Time, life time.Duration, made, missing int64) State {
	switch {
	case missing <= 0:
		return State{}
	case s.Expires.IsZero() || made > s.Made:
		return State{Expires: now.Add(life), Made: made}
	}
	return State{Expires: s.Expires, Made: made}
}

// Over reports whether no room is kept any more.
func (s State) Over(now time.Time) bool {
	return !s.Expires.IsZero() && !now.Before(s.Expires)
}

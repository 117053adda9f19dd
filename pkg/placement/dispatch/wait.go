// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
)

const (
	// patience is how long a pod stays with a home that has found no node for it, and how often it
	// is asked then who has room for it. If nobody is known to have any, patience doubles with each
	// home tried in vain.
	patience = 10 * time.Second
	// longestPatience bounds that.
	longestPatience = 5 * time.Minute
	// cacheDelay is how long the cache may take to show what was written.
	cacheDelay = 2 * time.Second
)

// Wait is what is remembered of a pod at its home. The zero value is that of a pod of which
// nothing is known.
type Wait struct {
	// Home is the scheduler that has the pod.
	Home string
	// Since is when it got the pod, or was first seen with it.
	Since time.Time
	// Tries is the number of homes that the pod was given, this one included.
	Tries int
	// Asked is when it was last asked who has room for the pod; zero if that was at another home.
	Asked time.Time
	// State is that of the cluster when the home got the pod, and Vain are the homes that had tried it
	// in vain in that state. No set is changed once it stands here.
	State uint64
	Vain  sets.Set[string]
	// Exhausted is when it was known last that no other home was left to try in the same state; zero
	// if that was never so at this home.
	Exhausted time.Time
}

// home returns the home of a pod whose label names labelled. What was written a moment ago
// counts, although the label may not show it yet.
func (w Wait) home(labelled string, now time.Time) string {
	if w.Home != "" && now.Sub(w.Since) < cacheDelay {
		return w.Home
	}
	return labelled
}

// Unanswered returns since when it has not been asked who has room for the pod at its home.
func (w Wait) Unanswered() time.Time {
	if w.Asked.After(w.Since) {
		return w.Asked
	}
	return w.Since
}

// fails reports whether a home has had the pod for so long, and has been asked about so long ago,
// that it is worth asking who has room for it.
func (w Wait) fails(home string, now time.Time) bool {
	return w.Home != "" && w.Home == home && now.Sub(w.Since) >= patience && now.Sub(w.Asked) >= patience
}

// expired reports whether a home has had the pod for so long that another one may try. While there
// was no other one to try, that did not count: the home is the first to have what changes then.
func (w Wait) expired(home string, now time.Time) bool {
	since := w.Since
	if w.Exhausted.After(since) {
		since = w.Exhausted
	}
	return w.Home != "" && w.Home == home && now.Sub(since) >= min(longestPatience, patience<<min(w.Tries, 8))
}

// next returns what is remembered of a pod that goes to another home.
func (w Wait) next(to string, unschedulable bool, state uint64, now time.Time) Wait {
	next := Wait{Home: to, Since: now, Tries: w.Tries + 1, State: state}
	switch {
	case w.State != state: // who has tried it before the change may try it again
	case unschedulable && w.expired(w.Home, now):
		next.Vain = w.Vain.Union(sets.New(w.Home))
	default:
		next.Vain = w.Vain
	}
	return next
}

// untried returns those of some homes that are worth a try: not the present one, and none that has
// tried the pod in vain in the present state of the cluster.
func (w Wait) untried(home string, homes sets.Set[string], state uint64) sets.Set[string] {
	left := homes.Difference(sets.New(home))
	if w.Home == home && w.State == state {
		left = left.Difference(w.Vain)
	}
	return left
}

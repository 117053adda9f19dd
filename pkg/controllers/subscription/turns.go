// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"berth.dev/berth/pkg/controllers/internal/fairqueue"
)

// betweenTurns is the pause before the next pass for a namespace that has had its turns, so that
// there is one pass for many of them.
const betweenTurns = time.Second

// lastTurns counts up over all Subscriptions that were written: what was written last has the
// highest number, and what never was has none.
type lastTurns map[types.UID]int

// turns says in which order Subscriptions are written, so that those of one namespace do not wait
// for thousands of another one, and within a namespace none waits for those that fail, or that
// something else changes all the time.
type turns struct {
	// order are indexes of outcomes: one of each namespace after the other, and of a namespace those
	// first that were written longest ago.
	order      []int
	failures   failures
	allowances *fairqueue.Allowances
	// now is when the pass began to write: what time gives while it writes is for the next one.
	now time.Time
	// again is after what pause another pass is due for what is left, 0 if nothing is.
	again time.Duration
}

func newTurns(outcomes []outcome, last lastTurns, failed failures, allowed *fairqueue.Allowances, now time.Time) *turns {
	order := make([]int, len(outcomes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(last[outcomes[a].object.UID], last[outcomes[b].object.UID])
	})
	var waiting fairqueue.Turns[int]
	for _, i := range order {
		waiting.Add(outcomes[i].object.Namespace, i)
	}
	t := &turns{failures: failed, allowances: allowed, now: now, order: order[:0]}
	for waiting.Len() > 0 {
		t.order = append(t.order, waiting.Pop())
	}
	return t
}

// over reports whether the namespace of a Subscription has had its turns, and notes that something
// of it is left. What failed is not tried again at once.
func (t *turns) over(o *outcome) bool {
	if !t.allowances.Spent(o.object.Namespace, t.now) {
		return false
	}
	t.due(max(t.failures[o.object.UID], betweenTurns))
	return true
}

// due notes that another pass is due after a pause; 0 is for never.
func (t *turns) due(pause time.Duration) {
	if pause > 0 && (t.again == 0 || pause < t.again) {
		t.again = pause
	}
}

// spend counts a Subscription for which something was asked of the API server.
func (t *turns) spend(namespace string) { t.allowances.Spend(namespace, t.now) }

// failures remembers the Subscriptions that could not be written as they should be when they had
// their turn last, and how long the next attempt waits, unless something else gives cause for a
// pass.
type failures map[types.UID]time.Duration

// add notes that a Subscription failed, and returns after what time it is tried again.
func (f failures) add(of types.UID) time.Duration {
	pause := firstRetry
	if before, known := f[of]; known {
		pause = min(2*before, longestRetry)
	}
	f[of] = pause
	return pause
}

// keepOnly forgets what is known of Subscriptions that are not among the outcomes any more.
func keepOnly[T any](known map[types.UID]T, outcomes []outcome) {
	if len(known) == 0 {
		return
	}
	here := make(map[types.UID]bool, len(outcomes))
	for i := range outcomes {
		here[outcomes[i].object.UID] = true
	}
	maps.DeleteFunc(known, func(uid types.UID, _ T) bool { return !here[uid] })
}

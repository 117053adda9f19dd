// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package movelimit

import (
	"maps"
	"time"
)

// Wait returns for each of the claims what Take would if they came in this order, and lets none
// begin. Those that are to wait are in the line from then on, also if others with their key may
// begin. Who may begin and was in the line stays until it comes or leaves.
func (b *Budget) Wait(claims []Claim, now time.Time) []time.Duration {
	levels, waiting := b.levels.clone(), maps.Clone(b.waiting)
	waits, told, called := make([]time.Duration, len(claims)), map[string]time.Duration{}, map[string]bool{}
	for i := range claims {
		key := claims[i].Key
		wait, known := told[key]
		if !known {
			if wait = b.Take(claims[i], now); wait > 0 {
				told[key] = wait
			} else {
				called[key] = true
			}
		}
		waits[i] = wait
	}
	b.levels = levels
	for key := range called {
		before, was := waiting[key]
		b.call(key, before, was, told[key] > 0)
	}
	return waits
}

// call notes that a key may begin, and whether more with it waits. It has not begun yet, so it is
// in the line where it was before, if it was.
func (b *Budget) call(key string, before waiter, was, more bool) {
	w := before
	if more {
		if w = b.waiting[key]; was {
			w.since = before.since
		}
	}
	w.called, w.more = true, more
	if was || more {
		b.waiting[key] = w
	}
}

// Leave takes claims out of the line that Wait has let begin and that have not come for it.
func (b *Budget) Leave(claims []Claim) {
	for i := range claims {
		if b.waiting[claims[i].Key].called {
			delete(b.waiting, claims[i].Key)
		}
	}
}

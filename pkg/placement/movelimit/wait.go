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
	waits, told, called := make([]time.Duration, len(claims)), map[string]time.Duration{}, map[string]int64{}
	for i := range claims {
		key := claims[i].Key
		if waits[i] = told[key]; waits[i] == 0 {
			waits[i] = b.Take(claims[i], now)
		}
		switch w := b.waiting[key]; {
		case waits[i] == 0:
			called[key]++
			continue
		case told[key] > 0:
			w.count++
			b.waiting[key] = w
		default:
			w.count = 1
			b.waiting[key], told[key] = w, waits[i]
		}
	}
	b.levels = levels
	for key, count := range called {
		before, was := waiting[key]
		b.call(key, before, was, told[key] > 0, count)
	}
	return waits
}

// call notes that so many claims with a key may begin, and whether more wait. They have not begun
// yet, so they are in the line where they were before, if they were.
func (b *Budget) call(key string, before waiter, was, more bool, count int64) {
	w := before
	w.count = count
	if more {
		if w = b.waiting[key]; was {
			w.since = before.since
		}
		w.count += count
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

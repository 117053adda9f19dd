// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// muchPause and littlePause are how long what takes reading much or little is not looked up anew.
	muchPause   = 10 * time.Second
	littlePause = 5 * time.Second
	// lookTimeout bounds one lookup.
	lookTimeout = 2 * time.Minute
	// maxLooked bounds the answers that are kept.
	maxLooked = 50
)

// lookups find out what does not follow from the objects that are watched, one after the other and
// only for pages that somebody looks at.
type lookups[T any] struct {
	ctx  context.Context //nolint:containedctx // it outlives the requests for pages
	find func(ctx context.Context, key string) (T, error)
	// pause is how long nothing is looked up anew.
	pause time.Duration
	// tell is called when a page says something else than before.
	tell func()
	// changes counts those of the objects that are watched. An answer from before a change is looked
	// up anew; if it is nil, all are, as long as somebody looks.
	changes *atomic.Uint64

	mu sync.Mutex
	// running is set during a lookup, waiting while a page will ask for the next one.
	running, waiting bool
	known            map[string]*looked[T]
}

// looked is what was found for a key.
type looked[T any] struct {
	at      time.Time
	changes uint64
	found   T
	err     error
}

// of returns what was found last for a key, nil if nothing was. What may be outdated is looked up
// anew, but not at once again.
func (l *lookups[T]) of(key string) *looked[T] {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := l.known[key]
	if l.running || last != nil && l.changes != nil && last.changes == l.changes.Load() {
		return last
	}
	if last != nil {
		if left := l.pause - time.Since(last.at); left > 0 {
			l.tellAfter(left)
			return last
		}
	}
	l.running = true
	go l.look(key)
	return last
}

// tellAfter makes pages ask again after a while. It is called with the lock.
func (l *lookups[T]) tellAfter(left time.Duration) {
	if l.waiting {
		return
	}
	l.waiting = true
	time.AfterFunc(left, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.waiting = false
		l.tell()
	})
}

func (l *lookups[T]) look(key string) {
	ctx, cancel := context.WithTimeout(l.ctx, lookTimeout)
	defer cancel()
	var began uint64
	if l.changes != nil {
		began = l.changes.Load()
	}
	found, err := l.find(ctx, key)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil {
		l.known = map[string]*looked[T]{}
	}
	if len(l.known) >= maxLooked {
		clear(l.known)
	}
	l.known[key] = &looked[T]{at: time.Now(), changes: began, found: found, err: err}
	l.running = false
	l.tell()
}

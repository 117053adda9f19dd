// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"
)

const (
	// tick is how often the machine is asked how fast it is.
	tick = 500 * time.Millisecond
	// work is how much is hashed for that: some milliseconds.
	work = 4 << 20
)

// pace is a clock that goes as fast as the machine works for a program: slower than time where
// others are busy, too. Deadlines by it mean the same on any machine.
type pace struct {
	block []byte
	best  time.Duration

	mu   sync.Mutex
	now  time.Time
	last time.Time
}

// newPace finds out how fast the machine is at its best.
func newPace() *pace {
	p := &pace{block: make([]byte, work), now: time.Now(), last: time.Now(), best: time.Hour}
	for range 10 {
		p.best = min(p.best, p.try())
	}
	return p
}

// try returns how long a piece of work takes.
func (p *pace) try() time.Duration {
	began := time.Now()
	sha256.Sum256(p.block)
	return time.Since(began)
}

// run has the clock go on until the context ends.
func (p *pace) run(ctx context.Context) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		took := p.try()
		p.mu.Lock()
		p.best = min(p.best, took)
		since := time.Since(p.last)
		p.now = p.now.Add(time.Duration(float64(since) * float64(p.best) / float64(took)))
		p.last = time.Now()
		p.mu.Unlock()
	}
}

// Now returns what the clock says.
func (p *pace) Now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package metricsources

import (
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// breakAfter is how many failures in a row open a Breaker.
const breakAfter = 3

// Breaker keeps a provider that does not work from being asked in vain all the time. After three
// failures in a row it opens, for a pause that doubles with each further failure up to a longest
// one. Then a single attempt is let through. It is safe for concurrent use.
type Breaker struct {
	clock          clock.PassiveClock
	pause, longest time.Duration

	mu       sync.Mutex
	failures int
	until    time.Time
	last     *Error
}

// NewBreaker returns a closed breaker.
func NewBreaker(clock clock.PassiveClock, pause, longest time.Duration) *Breaker {
	return &Breaker{clock: clock, pause: pause, longest: longest}
}

// Open returns why the provider should not be asked now, nil if it should be.
func (b *Breaker) Open() *Error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures < breakAfter || !b.clock.Now().Before(b.until) {
		return nil
	}
	return b.last
}

// Done notes how an attempt ended. Failures of a single metric count as success: the provider
// works.
func (b *Breaker) Done(err *Error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil || !err.Provider {
		b.failures, b.last = 0, nil
		return
	}
	b.failures++
	b.last = err
	if b.failures >= breakAfter {
		doublings := min(b.failures-breakAfter, 16)
		b.until = b.clock.Now().Add(min(b.longest, b.pause<<doublings))
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"sync"
	"time"

	"k8s.io/utils/clock"

	"berth.dev/berth/pkg/placement/movelimit"
)

// Moves limits how many pods begin to move to another cluster, over all controllers of a process.
// It is safe for concurrent use. Nil limits nothing.
type Moves struct {
	mu     sync.Mutex
	budget *movelimit.Budget
	clock  clock.PassiveClock
}

// NewMoves returns Moves by which nothing has begun yet.
func NewMoves(limits movelimit.Limits, clock clock.PassiveClock) *Moves {
	return &Moves{budget: movelimit.New(limits), clock: clock}
}

// Begin reports that a claim may begin now, by 0, or after what time it is to ask again.
func (m *Moves) Begin(claim movelimit.Claim) (wait time.Duration) {
	if m == nil {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.budget.Take(claim, m.clock.Now())
}

// Wait tells of each of some claims what Begin would say if they came in this order, and lets none
// begin. Those that are to wait are in the line from then on, also if others with their key may
// begin. Who may begin and was in the line stays until it comes or leaves.
func (m *Moves) Wait(claims []movelimit.Claim) []time.Duration {
	if m == nil {
		return make([]time.Duration, len(claims))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.budget.Wait(claims, m.clock.Now())
}

// Leave takes claims out of the line that Wait has let begin and that have not come for it.
func (m *Moves) Leave(claims []movelimit.Claim) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.budget.Leave(claims)
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apportion

import "sync"

const (
	// maxPlans bounds the number of plans that are kept: one for each number of replicas in use,
	// and workloads of one policy seldom have many different ones.
	maxPlans = 64

	// maxPlannedSeats bounds the memory of the plans that are kept, at eight bytes for each seat.
	maxPlannedSeats = 2 * MaxSeats
)

// Plans keeps the plans of one order that are in use. It is safe for concurrent use.
type Plans struct {
	order *Order

	mu    sync.Mutex
	byN   map[int32]*Plan
	seats int // in all plans together
}

// NewPlans returns the plans of an order.
func NewPlans(order *Order) *Plans {
	return &Plans{order: order}
}

// Of returns the seats of n replicas, at most MaxSeats.
func (p *Plans) Of(n int32) *Plan {
	n = min(n, MaxSeats)
	p.mu.Lock()
	defer p.mu.Unlock()
	if plan, found := p.byN[n]; found {
		return plan
	}
	plan := p.order.Plan(int64(n))
	if p.byN == nil || len(p.byN) >= maxPlans || p.seats+plan.Len() > maxPlannedSeats {
		p.byN, p.seats = map[int32]*Plan{}, 0
	}
	p.byN[n] = plan
	p.seats += plan.Len()
	return plan
}

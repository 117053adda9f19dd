// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package waitlist

import (
	"time"
)

// OfferTimeout is after what time something is offered to others that was offered to a pod which
// has not been heard of since. Nothing else waits for it: a pod that is tried or kept out of the
// queue is heard of.
const OfferTimeout = time.Second

// state is one of the table of the package.
type state uint8

const (
	asleep state = iota
	offered
	tried
)

// attempt is where a pod that waits stands in the table of the package.
type attempt struct {
	state state
	// since is when it was offered what it needs, or was found to be tried.
	since time.Time
	// again is set while another attempt is to follow the present one, and told once it is known how
	// the present one failed.
	again, told bool
}

// offer leads to offered.
func (a *attempt) offer(now time.Time) {
	a.state, a.since = offered, now
}

// sleep leads to asleep.
func (a *attempt) sleep() {
	a.state, a.since, a.again = asleep, time.Time{}, false
}

// overdue reports whether nothing has been heard for too long of what it was offered.
func (a *attempt) overdue(now time.Time) bool {
	return a.state != asleep && now.Sub(a.since) >= OfferTimeout
}

// ended notes that an attempt has failed, and reports whether that ends an offer: nothing was said
// of it before, and no other attempt is to follow.
func (a *attempt) ended(now time.Time) bool {
	if a.told {
		a.told = false // it may have been offered something since
		return false
	}
	return a.over(now)
}

// over is ended without regard to what was said before.
func (a *attempt) over(now time.Time) bool {
	if a.again {
		a.again, a.since = false, now
		return false
	}
	return a.state != asleep
}

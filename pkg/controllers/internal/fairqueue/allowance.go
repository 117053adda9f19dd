// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package fairqueue

import (
	"maps"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// AtOnce is how many objects of a namespace that has rested are written at once.
	AtOnce = 100
	// PerSecond is how many of a namespace are written in the long run, whatever gives cause for it:
	// what one tenant makes a controller write is a small part of what the API server can take.
	PerSecond = 10
)

// Allowances are token buckets, one for each namespace that has had objects written lately. The
// zero value is ready for use, by several goroutines at once.
type Allowances struct {
	mu      sync.Mutex
	buckets map[string]*rate.Limiter
	// booked are the turns of objects that wait for one.
	booked map[types.NamespacedName]time.Time
}

// Spent reports whether a namespace has had its turns.
func (a *Allowances) Spent(namespace string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	bucket := a.buckets[namespace]
	return bucket != nil && bucket.TokensAt(now) < 1
}

// Spend counts a turn of a namespace that has one.
func (a *Allowances) Spend(namespace string, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.bucket(namespace, now).AllowN(now, 1)
}

// Book returns how long an object waits for its turn, 0 if that has come. Those of a namespace have
// their turns in the order in which they asked first.
func (a *Allowances) Book(object types.NamespacedName, now time.Time) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	turn, booked := a.booked[object]
	if !booked {
		turn = now.Add(a.bucket(object.Namespace, now).ReserveN(now, 1).DelayFrom(now))
		if a.booked == nil {
			a.booked = map[types.NamespacedName]time.Time{}
		}
		a.booked[object] = turn
	}
	if wait := turn.Sub(now); wait > 0 {
		return wait
	}
	delete(a.booked, object)
	return 0
}

// Cancel forgets the turn of an object that has gone.
func (a *Allowances) Cancel(object types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.booked, object)
}

// bucket returns that of a namespace, and drops those of namespaces that have rested enough to
// begin anew.
func (a *Allowances) bucket(namespace string, now time.Time) *rate.Limiter {
	if found := a.buckets[namespace]; found != nil {
		return found
	}
	maps.DeleteFunc(a.buckets, func(_ string, l *rate.Limiter) bool { return l.TokensAt(now) >= AtOnce })
	if a.buckets == nil {
		a.buckets = map[string]*rate.Limiter{}
	}
	fresh := rate.NewLimiter(PerSecond, AtOnce)
	a.buckets[namespace] = fresh
	return fresh
}

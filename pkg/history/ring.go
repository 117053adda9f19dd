// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Limits bound what is remembered. What exceeds one of them makes the oldest entries go.
type Limits struct {
	// Entries is the number of entries.
	Entries int
	// Age is how long ago an entry may have been made.
	Age time.Duration
	// Bytes are what all entries may take, as estimated.
	Bytes int
}

// DefaultLimits hold a day of a quiet cluster, and some minutes of one that places hundreds of pods
// a second, in at most 16 MiB.
func DefaultLimits() Limits {
	return Limits{Entries: 20_000, Age: 24 * time.Hour, Bytes: 16 << 20}
}

// Ring holds the newest entries of a process. Nothing is remembered by a nil Ring. It is safe for
// concurrent use.
type Ring struct {
	limits Limits
	clock  clock.PassiveClock
	since  time.Time

	mu sync.Mutex
	// entries are numbered from first on; that with number n is at n modulo the length.
	entries       []slot
	first, number int
	bytes         int
	dropped       int
	// newest is the number of the newest entry about an object.
	newest map[Object]int
}

type slot struct {
	entry Entry
	size  int
}

// New returns a Ring that remembers from now on.
func New(limits Limits, now clock.PassiveClock) *Ring {
	return &Ring{limits: limits, clock: now, since: now.Now(), newest: map[Object]int{}}
}

// on reports whether anything is remembered.
func (r *Ring) on() bool { return r != nil }

// Add remembers a decision of this moment. If it says of its object what the newest entry about
// that says, it counts there. The Ring keeps what the entry points to.
func (r *Ring) Add(e Entry) {
	if r == nil {
		return
	}
	e.bound()
	size := e.size()
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	r.expire(now)
	if before := r.before(e.About); before != nil && e.repeats(before) {
		before.repeated(now)
		return
	}
	for r.number-r.first >= r.limits.Entries || r.bytes+size > r.limits.Bytes {
		if r.number == r.first {
			r.dropped++
			return // larger than everything together may be
		}
		r.drop()
	}
	e.Time, e.Last, e.Times = now, now, 1
	r.append(slot{entry: e, size: size})
}

// again counts an entry of which nothing but the key is known yet, and reports whether it has that
// of the newest entry about the same object.
func (r *Ring) again(e *Entry) bool {
	e.bound()
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	r.expire(now)
	before := r.before(e.About)
	if e.Key == "" || before == nil || !e.repeats(before) {
		return false
	}
	before.repeated(now)
	return true
}

// before returns the newest entry about an object, nil if there is none.
func (r *Ring) before(about Object) *Entry {
	n, known := r.newest[about]
	if !known {
		return nil
	}
	return &r.at(n).entry
}

// append adds an entry for which there is room.
func (r *Ring) append(s slot) {
	if r.number-r.first == len(r.entries) {
		r.grow()
	}
	*r.at(r.number) = s
	r.newest[s.entry.About] = r.number
	r.bytes += s.size
	r.number++
}

// at returns where the entry of a number is.
func (r *Ring) at(number int) *slot { return &r.entries[number%len(r.entries)] }

// grow makes room for as many entries again, as far as the limit lets it.
func (r *Ring) grow() {
	const atFirst = 64
	larger := make([]slot, min(r.limits.Entries, max(atFirst, 2*len(r.entries))))
	for n := r.first; n < r.number; n++ {
		larger[n%len(larger)] = *r.at(n)
	}
	r.entries = larger
}

// drop forgets the oldest entry.
func (r *Ring) drop() {
	oldest := r.at(r.first)
	if r.newest[oldest.entry.About] == r.first {
		delete(r.newest, oldest.entry.About)
	}
	r.bytes -= oldest.size
	*oldest = slot{}
	r.first++
	r.dropped++
}

// expire forgets the entries that are too old.
func (r *Ring) expire(now time.Time) {
	for r.first < r.number && now.Sub(r.at(r.first).entry.Time) > r.limits.Age {
		r.drop()
	}
}

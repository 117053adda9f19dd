// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fence tells whether this process may still write as the leader. Nothing checks a
// placement after the scheduler, so a process that has lost its lease must not bind by what it
// remembers. The fence is open while the lease provably belongs to this process, measured with the
// monotonic clock from before the last successful renewal was sent.
package fence

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// ErrClosed says that this process is not, or can no longer prove to be, the leader.
var ErrClosed = errors.New("the lease of the scheduler is not provably held")

// Fence guards writes that only the leader may make. It is safe for concurrent use.
type Fence struct {
	mu       sync.Mutex
	always   bool
	until    time.Time
	inFlight int
	drained  chan struct{}
	opened   chan struct{}
	once     sync.Once
	// late is what leaders before may have sent; units and seats are settled once none of that can
	// take one, see Settle. Unclear is true once a write has ended without a known outcome.
	late                  atomic.Int32
	units, seats, unclear atomic.Bool
	// lapsed has room for the version of a lease by which its holder cannot bind any more. Took is the
	// one that this process has taken the lease in.
	lapsed chan string
	took   atomic.Pointer[string]
}

// Late is what leaders before this one may have sent and what may still be carried out.
type Late int32

const (
	// LateOfMany is anything: nothing is known of the leaders before.
	LateOfMany Late = iota

	// LateOfOne is what the last leader has sent; that one had settled what came before it.
	LateOfOne

	// LateNothing is nothing: the last leader gave the lease back once the outcome of all that it had
	// sent was known, and had settled what came before it.
	LateNothing
)

// Given is what a pod is given when it is bound.
type Given string

const (
	// Units are those of ClusterResources.
	Units Given = "units"

	// Seats are places in the share of a workload.
	Seats Given = "seats"
)

// New returns a closed fence; Renewed opens it.
func New() *Fence {
	return &Fence{opened: make(chan struct{}), lapsed: make(chan string, 1)}
}

// Opened returns a channel that is closed once the fence has been open for the first time, when
// this process became the leader.
func (f *Fence) Opened() <-chan struct{} {
	return f.opened
}

// KeepOpen opens the fence for good, for a scheduler that runs without leader election.
func (f *Fence) KeepOpen() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.always = true
	f.once.Do(func() { close(f.opened) })
}

// Open reports whether the lease provably belongs to this process at the moment. It is for writes
// that need not have ended when the fence closes; the others Enter it.
func (f *Fence) Open() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open()
}

func (f *Fence) open() bool { return f.always || time.Now().Before(f.until) }

// Enter asks to make one write. The write must be made with the returned context, which ends when
// the fence closes, and leave must be called once its outcome is known. The error is ErrClosed if
// the write must not be made.
func (f *Fence) Enter(ctx context.Context) (guarded context.Context, leave func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.open() {
		return nil, nil, ErrClosed
	}
	f.inFlight++
	cancel := func() {}
	if !f.always {
		ctx, cancel = context.WithDeadline(ctx, f.until)
	}
	var once sync.Once
	return ctx, func() {
		once.Do(func() {
			cancel()
			f.left()
		})
	}, nil
}

// HasClosed reports whether the fence has closed that Enter has given the context of. The context
// itself may end a moment later in a process that had been stopped.
func HasClosed(guarded context.Context) bool {
	until, ends := guarded.Deadline()
	return ends && !time.Now().Before(until)
}

func (f *Fence) left() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inFlight--
	if f.inFlight == 0 && f.drained != nil {
		close(f.drained)
		f.drained = nil
	}
}

// Settle notes that nothing of what leaders before have sent can take units, or seats, any more.
// The next renewal, or the return of the lease, says so in it.
func (f *Fence) Settle(given Given) {
	if given == Units {
		f.units.Store(true)
		return
	}
	f.seats.Store(true)
}

// Unclear notes that a write has ended without a known outcome, so that it may still be carried out
// after the lease has been given back.
func (f *Fence) Unclear() {
	f.unclear.Store(true)
}

// Late returns what leaders before may have sent that is still to be carried out. It is known once
// the fence has been open.
func (f *Fence) Late() Late {
	return Late(f.late.Load())
}

// allSettled reports whether, with the fence closed and nothing under way, nothing at all can be
// carried out any more.
func (f *Fence) allSettled() bool {
	return f.units.Load() && f.seats.Load() && !f.unclear.Load()
}

// Lapsed returns a channel of versions of the lease by which another process that has it cannot
// bind any more: its fence has closed, although the lease still lasts.
func (f *Fence) Lapsed() <-chan string {
	return f.lapsed
}

// Took returns the version in which this process has taken the lease from another one, empty if it
// has not. It is known once the fence has been open.
func (f *Fence) Took() string {
	if version := f.took.Load(); version != nil {
		return *version
	}
	return ""
}

func (f *Fence) lapse(version string) {
	select {
	case f.lapsed <- version:
	default:
	}
}

// Renewed opens the fence until the given time; a time before the present one changes nothing.
func (f *Fence) Renewed(until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if until.After(f.until) {
		f.until = until
		f.once.Do(func() { close(f.opened) })
	}
}

// shut closes the fence.
func (f *Fence) shut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.until = time.Time{}
}

// Close closes the fence and waits until the writes that are under way have ended, or the context
// has.
func (f *Fence) Close(ctx context.Context) error {
	f.mu.Lock()
	f.until = time.Time{}
	if f.inFlight == 0 {
		f.mu.Unlock()
		return nil
	}
	if f.drained == nil {
		f.drained = make(chan struct{})
	}
	drained := f.drained
	f.mu.Unlock()
	select {
	case <-drained:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package fence

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Lock is a lease lock that keeps a Fence: each renewal opens it for a while, and before the lease
// is given back the fence is closed and the writes under way are waited for.
type Lock struct {
	resourcelock.Interface
	fence *Fence
	open  time.Duration
	// note is nil if nothing is said in the lease.
	note *note
}

var _ resourcelock.Interface = &Lock{}

// NewLock wraps a lock. A renewal opens the fence for the given time after it was sent. With the
// renew deadline of the election, which is shorter than the lease, what was sent while the fence
// was open has the rest of the lease to arrive before another process can be the leader.
func NewLock(inner resourcelock.Interface, fence *Fence, open time.Duration) *Lock {
	return &Lock{Interface: &lasting{Interface: inner, least: open}, fence: fence, open: open, note: newNote(inner, open, fence.lapse)}
}

// Get returns the record of the lease. If somebody else holds it, nothing is sent any more.
func (l *Lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if err == nil && record.HolderIdentity != "" && record.HolderIdentity != l.Identity() {
		l.fence.shut()
	}
	return record, raw, err
}

// Create makes the lease and opens the fence.
func (l *Lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if l.note != nil {
		l.note.write(record.LeaderTransitions, false, false)
	}
	sent := time.Now()
	if err := l.Interface.Create(ctx, record); err != nil {
		return err
	}
	l.renewed(sent, record)
	return nil
}

// Update renews the lease, or gives it back if the record names no holder.
func (l *Lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity != l.Identity() {
		if err := l.fence.Close(ctx); err != nil {
			return fmt.Errorf("keeping lease %s: writes are still under way: %w", l.Describe(), err)
		}
		if l.note != nil {
			l.note.write(record.LeaderTransitions, l.fence.units.Load(), l.fence.allSettled())
		}
		return l.Interface.Update(ctx, record)
	}
	if l.note != nil {
		if l.note.takes() {
			l.fence.late.Store(int32(l.note.ofLast()))
			l.fence.took.Store(&l.note.read.ResourceVersion)
		}
		l.note.write(record.LeaderTransitions, l.fence.units.Load(), false)
	}
	sent := time.Now()
	if err := l.Interface.Update(ctx, record); err != nil {
		return err
	}
	l.renewed(sent, record)
	return nil
}

func (l *Lock) renewed(sent time.Time, record resourcelock.LeaderElectionRecord) {
	if record.HolderIdentity == l.Identity() {
		l.fence.Renewed(sent.Add(l.open))
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package fence

import (
	"bytes"
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// lasting is a lease lock for which a lease counts for as long as it lasted, whatever is done to
// it by somebody who is not its holder: it may be deleted, emptied, or taken for a shorter time.
// Its holder may not know, and goes on until its own clock tells it to end. Nor does it give back
// what is another's: the election of client-go, when it ends, reads the lease and gives that back
// without a look at whose it has become. It is for one election, which asks one thing at a time.
type lasting struct {
	resourcelock.Interface
	// least is how long the lease of another process lasts at least, unless it is given back.
	least time.Duration
	// last is what the lease was when it had a holder, empty if that is not known.
	last resourcelock.LeaderElectionRecord
	// own is until when no other process can have taken it from this one.
	own time.Time
	// vacant says that it was found deleted or emptied, and how it looked. Until then somebody may act
	// by it.
	vacant bool
	look   []byte
	until  time.Time
}

// givenBack is for how many seconds a lease lasts that its holder has given back.
const givenBack = 1

// NewLasting wraps a lock that needs no fence: its lease counts for as long as it lasted, whatever
// others do to it, and is given back by its holder only. It is for one election.
func NewLasting(inner resourcelock.Interface) resourcelock.Interface {
	return &lasting{Interface: inner}
}

// Get returns the record of the lease, or that of a holder who may still act by it.
func (l *lasting) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if apierrors.IsNotFound(err) {
		record = nil
	} else if err != nil {
		l.vacant = false // another process may have had it before the next look
		return nil, nil, err
	}
	if record != nil && record.HolderIdentity != "" {
		l.last, l.vacant = *record, false
		return l.atLeast(record), raw, nil
	}
	now := time.Now()
	if !l.counts(record, raw, now) {
		return record, raw, err
	}
	former := l.last
	if former.HolderIdentity == l.Identity() || former.HolderIdentity == "" {
		former.HolderIdentity = "somebody" // this process may have been followed by another one
	}
	former.LeaseDurationSeconds = secondsOf(l.until.Sub(now))
	return &former, []byte("counts until " + l.until.String()), nil
}

// counts reports whether somebody may still act by a lease that was found without a holder, or
// deleted: then the record is nil.
func (l *lasting) counts(record *resourcelock.LeaderElectionRecord, raw []byte, now time.Time) bool {
	switch {
	case now.Before(l.own),
		record == nil && l.last.HolderIdentity == "", // this process has never seen it
		record != nil && record.LeaseDurationSeconds <= givenBack:
		return false
	case !l.vacant || !bytes.Equal(l.look, raw):
		l.vacant, l.look, l.until = true, raw, now.Add(max(l.least, durationOf(&l.last)))
		if record != nil && now.Add(durationOf(record)).After(l.until) {
			l.until = now.Add(durationOf(record))
		}
	}
	return now.Before(l.until)
}

// atLeast returns a record that lasts for long enough, if it is that of another process.
func (l *lasting) atLeast(record *resourcelock.LeaderElectionRecord) *resourcelock.LeaderElectionRecord {
	if record.HolderIdentity == l.Identity() || durationOf(record) >= l.least {
		return record
	}
	longer := *record
	longer.LeaseDurationSeconds = secondsOf(l.least)
	return &longer
}

func durationOf(record *resourcelock.LeaderElectionRecord) time.Duration {
	return time.Duration(record.LeaseDurationSeconds) * time.Second
}

func secondsOf(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// Create makes the lease.
func (l *lasting) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, l.Interface.Create)
}

// Update renews the lease, or gives it back.
func (l *lasting) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, l.Interface.Update)
}

func (l *lasting) write(
	ctx context.Context, record resourcelock.LeaderElectionRecord,
	send func(context.Context, resourcelock.LeaderElectionRecord) error,
) error {
	if holder := l.last.HolderIdentity; record.HolderIdentity == "" && holder != "" && holder != l.Identity() {
		return fmt.Errorf("lease %s is not given back: %s holds it", l.Describe(), holder)
	}
	sent := time.Now()
	if err := send(ctx, record); err != nil {
		return err
	}
	l.last, l.own, l.vacant = resourcelock.LeaderElectionRecord{}, time.Time{}, false
	if record.HolderIdentity == l.Identity() {
		l.last, l.own = record, sent.Add(durationOf(&record))
	}
	return nil
}

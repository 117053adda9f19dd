// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"
)

// sleep lets the time of a bubble pass.
func sleep(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // the time of the test is not the real one
	synctest.Wait()
}

// One tenant who makes thousands of objects must not have the scheduler make pictures of them all
// the time. The last change is known soon all the same.
func TestChangesThatDoNotEndTakeAPartOfTheTime(t *testing.T) {
	const takes, changes = 20 * time.Millisecond, 1000
	synctest.Test(t, func(t *testing.T) {
		var made, changed atomic.Int64
		b := newBoard("objects", clock.RealClock{}, time.Minute, func(_, _ *int64) {})
		b.build = func(*int64) *int64 {
			seen := changed.Load()
			made.Add(1)
			time.Sleep(takes) //nolint:forbidigo // see sleep
			return &seen
		}
		go b.Run(t.Context())
		sleep(time.Second)
		before, began := made.Load(), time.Now()
		for range changes {
			changed.Add(1)
			b.markDirty()
			sleep(10 * time.Millisecond)
		}
		busy, all := time.Duration(made.Load()-before)*takes, time.Since(began)
		if busy > all/restShare {
			t.Errorf("pictures took %v of %v", busy, all)
		}
		sleep(maxRest)
		if got := *b.Snapshot(); got != changes {
			t.Errorf("change %d is known, want %d", got, changes)
		}
	})
}

// A change that comes after a rest is known as soon as the picture of it is made.
func TestAChangeByItselfIsKnownAtOnce(t *testing.T) {
	const takes = 20 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		var changed atomic.Int64
		b := newBoard("objects", clock.RealClock{}, time.Minute, func(_, _ *int64) {})
		b.build = func(*int64) *int64 {
			seen := changed.Load()
			time.Sleep(takes) //nolint:forbidigo // see sleep
			return &seen
		}
		go b.Run(t.Context())
		sleep(time.Second)
		changed.Add(1)
		b.markDirty()
		sleep(takes)
		if got := *b.Snapshot(); got != 1 {
			t.Errorf("change %d is known, want 1", got)
		}
	})
}

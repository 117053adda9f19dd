// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package fence_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth.dev/berth/pkg/fence"
)

// entered reports whether a write may be made, and makes it.
func entered(t *testing.T, f *fence.Fence) bool {
	t.Helper()
	open := f.Open()
	_, leave, err := f.Enter(t.Context())
	if open != (err == nil) {
		t.Fatalf("the fence is open: %t, and Enter says %v", open, err)
	}
	if err != nil {
		if !errors.Is(err, fence.ErrClosed) {
			t.Fatalf("Enter fails with %v", err)
		}
		return false
	}
	leave()
	return true
}

func TestFenceIsOpenWhileTheLeaseLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fence.New()
		if entered(t, f) {
			t.Error("the fence is open before the lease was ever held")
		}
		f.Renewed(time.Now().Add(15 * time.Second))
		time.Sleep(15*time.Second - 1) //nolint:forbidigo // the time of the test is not the real one
		if !entered(t, f) {
			t.Error("the fence is closed while the lease lasts")
		}
		time.Sleep(time.Nanosecond) //nolint:forbidigo // the time of the test is not the real one
		if entered(t, f) {
			t.Error("the fence is open at the moment another process may take the lease")
		}
		f.Renewed(time.Now().Add(15 * time.Second))
		f.Renewed(time.Now().Add(5 * time.Second))
		time.Sleep(10 * time.Second) //nolint:forbidigo // the time of the test is not the real one
		if !entered(t, f) {
			t.Error("a late answer to an early renewal closes the fence")
		}
	})
}

func TestWritesEndWithTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fence.New()
		until := time.Now().Add(15 * time.Second)
		f.Renewed(until)
		guarded, leave, err := f.Enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer leave()
		if deadline, set := guarded.Deadline(); !set || !deadline.Equal(until) {
			t.Errorf("the write must end at %v, %t; want %v", deadline, set, until)
		}
	})
}

func TestCloseWaitsForWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fence.New()
		f.Renewed(time.Now().Add(time.Hour))
		var leaves []func()
		for range 3 {
			_, leave, err := f.Enter(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			leaves = append(leaves, leave)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := f.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close says %v with writes under way", err)
		}
		if entered(t, f) {
			t.Error("a write began after Close")
		}
		var closed atomic.Int32
		for range 2 {
			go func() {
				if err := f.Close(t.Context()); err == nil {
					closed.Add(1)
				}
			}()
		}
		leaves[0]()
		leaves[0]() // A second call must not count for another write.
		leaves[1]()
		synctest.Wait()
		if got := closed.Load(); got != 0 {
			t.Errorf("%d calls of Close returned with a write under way", got)
		}
		leaves[2]()
		synctest.Wait()
		if got := closed.Load(); got != 2 {
			t.Errorf("%d of 2 calls of Close returned after the last write", got)
		}
		f.Renewed(time.Now().Add(time.Hour))
		if !entered(t, f) {
			t.Error("a fence that was closed does not open again")
		}
	})
}

func TestCloseOfAnIdleFenceReturnsAtOnce(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := fence.New().Close(ended); err != nil {
		t.Errorf("Close says %v", err)
	}
}

func TestWithoutLeaderElectionTheFenceStaysOpen(t *testing.T) {
	f := fence.New()
	f.KeepOpen()
	guarded, leave, err := f.Enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	if _, set := guarded.Deadline(); set {
		t.Error("the write has a deadline")
	}
}

// TestNoWriteOutlivesClose is for the race detector as well: many writers, renewals and closings at
// once.
func TestNoWriteOutlivesClose(t *testing.T) {
	f := fence.New()
	var writing atomic.Int32
	var writers sync.WaitGroup
	stop := make(chan struct{})
	for range 8 {
		writers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				_, leave, err := f.Enter(t.Context())
				if err != nil {
					continue
				}
				writing.Add(1)
				writing.Add(-1)
				leave()
			}
		})
	}
	for range 200 {
		f.Renewed(time.Now().Add(time.Hour))
		if err := f.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if got := writing.Load(); got != 0 {
			t.Errorf("%d writes are under way after Close", got)
		}
	}
	close(stop)
	writers.Wait()
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"sync/atomic"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// board keeps the newest snapshot of what some sources know together.
type board[S any] struct {
	sources  []*source
	build    func(before *S) *S
	what     string // the kinds, for the log
	clock    clock.WithTicker
	patience time.Duration
	dirty    chan struct{}
	onChange func(before, after *S)

	snapshot atomic.Pointer[S]
	reason   atomic.Pointer[error]
}

// newBoard returns a board that needs its sources and build yet.
func newBoard[S any](what string, clk clock.WithTicker, patience time.Duration, onChange func(before, after *S)) *board[S] {
	return &board[S]{what: what, clock: clk, patience: patience, dirty: make(chan struct{}, 1), onChange: onChange}
}

// Snapshot returns the newest picture, nil until the first lists have arrived.
func (b *board[S]) Snapshot() *S {
	return b.snapshot.Load()
}

// Unreadable returns why the first lists have not arrived for longer than the patience, nil
// otherwise.
func (b *board[S]) Unreadable() error {
	if reason := b.reason.Load(); reason != nil {
		return *reason
	}
	return nil
}

// SetPatience changes the patience. It must be called before Run.
func (b *board[S]) SetPatience(patience time.Duration) {
	b.patience = patience
}

// Run watches until the context ends.
func (b *board[S]) Run(ctx context.Context) {
	for _, s := range b.sources {
		go s.informer.RunWithContext(ctx)
	}
	// The first sync of an informer with no objects comes with no event; and a failure becomes a
	// reason by mere time.
	tick := b.clock.NewTicker(firstSyncPoll)
	defer tick.Stop()
	pending := true
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.dirty:
			began := b.clock.Now()
			pending = !b.update(ctx)
			b.rest(ctx, b.clock.Since(began))
		case <-tick.C():
			if pending {
				pending = !b.update(ctx)
			}
		}
	}
}

const (
	// restShare is how many times as long as it took to make a picture a board rests, so that
	// thousands of objects which somebody makes one after the other take a fifth of a processor from
	// the scheduling of everybody's pods, and more only where a picture takes so long that maxRest
	// counts.
	restShare = 4
	// maxRest bounds how much later than it could a change becomes known.
	maxRest = 500 * time.Millisecond
)

// rest waits after a picture that took so long to make.
func (b *board[S]) rest(ctx context.Context, took time.Duration) {
	pause := min(restShare*took, maxRest)
	if pause <= 0 {
		return
	}
	timer := b.clock.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C():
	}
}

// firstSyncPoll is how often a board looks whether the first lists are there.
const firstSyncPoll = 50 * time.Millisecond

func (b *board[S]) markDirty() {
	select {
	case b.dirty <- struct{}{}:
	default:
	}
}

// update makes a new snapshot once all kinds have been read; before that it only notes what keeps
// them from being read, and returns false.
func (b *board[S]) update(ctx context.Context) bool {
	for _, s := range b.sources {
		if !s.ready() {
			b.noteFailure(ctx)
			return false
		}
	}
	before := b.snapshot.Load()
	after := b.build(before)
	b.snapshot.Store(after)
	b.reason.Store(nil)
	for _, s := range b.sources {
		if s.kind != "" {
			knownObjects.WithLabelValues(s.kind).Set(float64(s.used))
		}
	}
	b.onChange(before, after)
	return true
}

func (b *board[S]) noteFailure(ctx context.Context) {
	if b.snapshot.Load() != nil {
		return
	}
	for _, s := range b.sources {
		since, err := s.failure()
		if err == nil || b.clock.Since(since) < b.patience {
			continue
		}
		known := b.reason.Swap(&err)
		if known == nil {
			klog.FromContext(ctx).Error(err, "Objects cannot be read, pods that need them wait", "kinds", b.what)
			b.onChange(nil, nil)
		}
		return
	}
}

// typed returns the objects of a source, and notes how many they are. Only build calls it.
func typed[T any](s *source) []T {
	objects := s.objects()
	s.used = len(objects)
	list := make([]T, 0, len(objects))
	for _, object := range objects {
		if t, ok := object.(T); ok {
			list = append(list, t)
		}
	}
	return list
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"context"
	"fmt"
	"math"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/pkg/placement/bundle"
	"berth.dev/berth/pkg/simulator"
)

// ledger counts how much room clusters have left when what has been reserved in a pass is taken
// off. It asks the plugins of the scheduler.
type ledger struct {
	ctx      context.Context //nolint:containedctx // a ledger lives as long as one decision
	items    []*item
	snapshot *simulator.Snapshot
	// err is the first failure: what is decided after that is void.
	err error
}

var _ bundle.Room = (*ledger)(nil)

// Count implements bundle.Room.
func (l *ledger) Count(ref bundle.Ref, cluster string, limit int64) int64 {
	return l.count(ref, cluster, limit, l.snapshot.Room)
}

// Reserve implements bundle.Room.
func (l *ledger) Reserve(ref bundle.Ref, cluster string, replicas int64) int64 {
	return l.count(ref, cluster, replicas, l.snapshot.Fill)
}

func (l *ledger) count(
	ref bundle.Ref, cluster string, limit int64,
	question func(context.Context, string, *corev1.Pod, int) (simulator.Room, error),
) int64 {
	it := l.items[ref.Subscription]
	sample := it.feeds[ref.Feed].sample
	if l.err != nil || sample == nil || limit <= 0 {
		return 0
	}
	room, err := question(l.ctx, cluster, sample, int(min(limit, math.MaxInt32)))
	if err != nil {
		l.err = fmt.Errorf("asking for room for %s of Subscription %s: %w", it.input.Feeds[ref.Feed].Name, it.input.Name, err)
	}
	return int64(room.Copies)
}

// Mark implements bundle.Room.
func (l *ledger) Mark() int { return l.snapshot.Mark() }

// Rollback implements bundle.Room.
func (l *ledger) Rollback(mark int) { l.snapshot.Rollback(mark) }

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"context"
	"fmt"
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"berth.dev/berth/pkg/controllers/room"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/placement/bundle"
)

// ledger counts how much room nodes have left when what has been reserved in a pass is taken off.
type ledger struct {
	items     []*item
	fresh     func() *room.Estimator
	estimator *room.Estimator
	entries   []entry
	// err is the first failure: what is decided after that is void.
	err error
}

// entry is a reservation.
type entry struct {
	nodes    []*corev1.Node
	sample   *corev1.Pod
	replicas int64
}

var _ bundle.Room = (*ledger)(nil)

func (r *Reconciler) newLedger(ctx context.Context, items []*item, snapshot *topology.Snapshot) *ledger {
	fresh := func() *room.Estimator { return room.NewEstimator(klog.FromContext(ctx), snapshot.Nodes, r.PodsOn(ctx)) }
	return &ledger{items: items, fresh: fresh, estimator: fresh()}
}

// Count implements bundle.Room.
func (l *ledger) Count(ref bundle.Ref, cluster string, limit int64) int64 {
	if l.err != nil {
		return 0
	}
	it := l.items[ref.Subscription]
	n, err := l.estimator.Count(it.nodes[cluster], it.feeds[ref.Feed].sample, nil, int(min(limit, math.MaxInt32)))
	if err != nil {
		l.err = fmt.Errorf("counting room for %s of Subscription %s: %w", it.input.Feeds[ref.Feed].Name, it.input.Name, err)
	}
	return int64(n)
}

// Reserve implements bundle.Room.
func (l *ledger) Reserve(ref bundle.Ref, cluster string, replicas int64) {
	if replicas > 0 {
		it := l.items[ref.Subscription]
		l.reserve(entry{it.nodes[cluster], it.feeds[ref.Feed].sample, replicas})
	}
}

func (l *ledger) reserve(e entry) {
	if l.err != nil {
		return
	}
	l.entries = append(l.entries, e)
	if err := l.estimator.Reserve(e.nodes, e.sample, nil, int(e.replicas)); err != nil {
		l.err = fmt.Errorf("reserving room: %w", err)
	}
}

// Mark implements bundle.Room.
func (l *ledger) Mark() int { return len(l.entries) }

// Rollback implements bundle.Room.
func (l *ledger) Rollback(mark int) {
	if mark == len(l.entries) {
		return
	}
	kept := l.entries[:mark]
	l.estimator, l.entries = l.fresh(), nil
	for _, e := range kept {
		l.reserve(e)
	}
}

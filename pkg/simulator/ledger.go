// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/pkg/placement/bundle"
)

// Ledger counts for a decision on bundles how much room clusters have left when what the decision
// has reserved is taken off. Reserved is what was placed on the snapshot since, so the ledger is
// for use within one fork.
type Ledger struct {
	ctx      context.Context //nolint:containedctx // a ledger lives as long as one decision
	snapshot *Snapshot
	sample   func(bundle.Ref) *corev1.Pod
	reserved []Reservation
	// limits holds by cluster what stopped the next replica of a feed when it was asked last.
	limits map[bundle.Ref]map[string]string
	err    error
}

// Reservation is room for so many replicas of a feed in a cluster.
type Reservation struct {
	bundle.Ref
	Cluster string
	Copies  int
	// Away reports that the nodes are away, see FillAway.
	Away bool
	// mark is the state of the snapshot before.
	mark int
}

var _ bundle.RoomLedger = (*Ledger)(nil)

// Ledger returns a ledger on the snapshot. Sample returns a pod like those of a feed as far as room
// is concerned, nil if none is known: then there is no room for the feed.
func (s *Snapshot) Ledger(ctx context.Context, sample func(bundle.Ref) *corev1.Pod) *Ledger {
	return &Ledger{ctx: ctx, snapshot: s, sample: sample, limits: map[bundle.Ref]map[string]string{}}
}

// Err returns the first failure, nil if there was none: what was decided after that is void.
func (l *Ledger) Err() error { return l.err }

// Reserved returns what has been reserved and not been rolled back.
func (l *Ledger) Reserved() []Reservation { return l.reserved }

// LimitedBy returns what stops the next replica of a feed, in the order of the clusters that were
// asked and are full: "Cluster edge: 0/3 nodes are available: 3 Insufficient cpu".
func (l *Ledger) LimitedBy(ref bundle.Ref) []string {
	limits := l.limits[ref]
	list := make([]string, 0, len(limits))
	for _, cluster := range slices.Sorted(maps.Keys(limits)) {
		list = append(list, fmt.Sprintf("Cluster %s: %s", cluster, strings.TrimSuffix(limits[cluster], ".")))
	}
	return list
}

// Count implements bundle.RoomLedger.
func (l *Ledger) Count(ref bundle.Ref, cluster string, limit int64) int64 {
	room := l.ask(ref, cluster, limit, l.snapshot.Room)
	l.note(ref, cluster, room)
	return int64(room.Copies)
}

// note keeps what stops the next replica.
func (l *Ledger) note(ref bundle.Ref, cluster string, room Room) {
	if room.LimitedBy == "" {
		return
	}
	if l.limits[ref] == nil {
		l.limits[ref] = map[string]string{}
	}
	l.limits[ref][cluster] = room.LimitedBy
}

// Reserve implements bundle.RoomLedger.
func (l *Ledger) Reserve(ref bundle.Ref, cluster string, replicas int64) int64 {
	mark := l.snapshot.mark()
	room := l.ask(ref, cluster, replicas, l.snapshot.Fill)
	l.note(ref, cluster, room)
	if room.Copies > 0 {
		l.reserved = append(l.reserved, Reservation{Ref: ref, Cluster: cluster, Copies: room.Copies, mark: mark})
	}
	return int64(room.Copies)
}

// Hold implements bundle.RoomLedger.
func (l *Ledger) Hold(ref bundle.Ref, cluster string, replicas int64) (held int64, release func()) {
	mark := l.snapshot.mark()
	away := l.ask(ref, cluster, replicas, l.snapshot.FillAway).Copies
	end := l.snapshot.mark()
	if away > 0 {
		l.reserved = append(l.reserved, Reservation{Ref: ref, Cluster: cluster, Copies: away, Away: true, mark: mark})
	}
	return int64(away), func() {
		l.snapshot.undoBetween(mark, end)
		l.reserved = slices.DeleteFunc(l.reserved, func(r Reservation) bool { return r.mark == mark && r.Away })
	}
}

// Mark implements bundle.RoomLedger.
func (l *Ledger) Mark() int { return l.snapshot.mark() }

// Rollback implements bundle.RoomLedger.
func (l *Ledger) Rollback(mark int) {
	l.snapshot.rollback(mark)
	l.reserved = slices.DeleteFunc(l.reserved, func(r Reservation) bool { return r.mark >= mark })
}

func (l *Ledger) ask(
	ref bundle.Ref, cluster string, limit int64, question func(context.Context, string, *corev1.Pod, int) (Room, error),
) Room {
	sample := l.sample(ref)
	if l.err != nil || sample == nil || limit <= 0 {
		return Room{}
	}
	room, err := question(l.ctx, cluster, sample, int(min(limit, math.MaxInt32)))
	if err != nil {
		l.err = fmt.Errorf("asking for room for a feed: %w", err)
	}
	return room
}

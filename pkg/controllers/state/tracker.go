// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/topology"
)

// Tracker keeps the latest Snapshot. It is safe for concurrent use.
type Tracker struct {
	reader client.Reader
	// looking is full while somebody reads: one look is enough for all who wait.
	looking chan struct{}

	mu sync.Mutex
	// changes counts what the snapshot does not know if it was read before.
	changes  uint64
	snapshot *topology.Snapshot
}

// NewTracker returns a tracker that reads Clusters and nodes from a cache.
func NewTracker(reader client.Reader) *Tracker {
	return &Tracker{reader: reader, looking: make(chan struct{}, 1)}
}

// Invalidate makes the next Snapshot look again. Handlers call it before they enqueue anything. It
// never waits for a Snapshot that is being made: that may wait for the lists of a cache which has
// just been started.
func (t *Tracker) Invalidate() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.changes++
	t.snapshot = nil
}

// Snapshot returns the present state. It costs nothing unless something has changed.
func (t *Tracker) Snapshot(ctx context.Context) (*topology.Snapshot, error) {
	if known, _ := t.known(); known != nil {
		return known, nil
	}
	select {
	case t.looking <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for the clusters and nodes: %w", ctx.Err())
	}
	defer func() { <-t.looking }()
	known, changes := t.known()
	if known != nil {
		return known, nil
	}
	snapshot, err := t.look(ctx)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.changes == changes {
		t.snapshot = snapshot
	}
	return snapshot, nil
}

// known returns the snapshot, nil if it is out of date, and the changes until now.
func (t *Tracker) known() (*topology.Snapshot, uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.snapshot, t.changes
}

func (t *Tracker) look(ctx context.Context) (*topology.Snapshot, error) {
	var clusters berthv1alpha1.ClusterList
	if err := t.reader.List(ctx, &clusters, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing clusters: %w", err)
	}
	var nodes corev1.NodeList
	if err := t.reader.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing nodes: %w", err)
	}
	return topology.New(clusters.Items, nodes.Items), nil
}

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

	mu       sync.Mutex
	snapshot *topology.Snapshot
}

// NewTracker returns a tracker that reads Clusters and nodes from a cache.
func NewTracker(reader client.Reader) *Tracker { return &Tracker{reader: reader} }

// Invalidate makes the next Snapshot look again. Handlers call it before they enqueue anything.
func (t *Tracker) Invalidate() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.snapshot = nil
}

// Snapshot returns the present state. It costs nothing unless something has changed.
func (t *Tracker) Snapshot(ctx context.Context) (*topology.Snapshot, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.snapshot != nil {
		return t.snapshot, nil
	}
	var clusters berthv1alpha1.ClusterList
	if err := t.reader.List(ctx, &clusters, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing clusters: %w", err)
	}
	var nodes corev1.NodeList
	if err := t.reader.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing nodes: %w", err)
	}
	t.snapshot = topology.New(clusters.Items, nodes.Items)
	return t.snapshot, nil
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package catalog keeps the Clusters and PropagationPolicies at hand for the scheduling cycle, as immutable snapshots. It
// runs its own informers instead of registering the kinds as queueing events, because a scheduler that waits for the events
// of a CRD that is not installed blocks every pod for ever.
package catalog

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/placement/membership"
	"berth.dev/berth/pkg/placement/policymatch"
)

// Snapshot is an immutable picture of all Clusters and policies.
type Snapshot struct {
	// Membership tells which node lies in which cluster.
	Membership *membership.Index
	// Matcher tells which policy is in force for which workload.
	Matcher *policymatch.Index

	policies map[types.NamespacedName]*Policy
	clusters map[string]clusterVersion
}

// clusterVersion changes whenever the nodes of a cluster may.
type clusterVersion struct {
	uid        types.UID
	generation int64
}

// Policy returns a policy by namespace and name, nil if there is none.
func (s *Snapshot) Policy(namespace, name string) *Policy {
	return s.policies[types.NamespacedName{Namespace: namespace, Name: name}]
}

// Catalog keeps the newest Snapshot. It is safe for concurrent use.
type Catalog struct {
	clusters, policies *source
	clock              clock.PassiveClock
	patience           time.Duration
	dirty              chan struct{}
	onChange           func(before, after *Snapshot)

	snapshot atomic.Pointer[Snapshot]
	failure  atomic.Pointer[error]
}

// New returns a catalog that reads through the client once Run is called. While the first lists fail for longer than
// patience, Unreadable says why. onChange is called after each new snapshot, and with two nils when the answer of
// Unreadable has changed; it is called from one goroutine and may take its time.
func New(
	client versioned.Interface, clk clock.PassiveClock, patience time.Duration, onChange func(before, after *Snapshot),
) (*Catalog, error) {
	c := &Catalog{clock: clk, patience: patience, dirty: make(chan struct{}, 1), onChange: onChange}
	berth := client.BerthV1alpha1()
	var err error
	c.clusters, err = newSource(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return berth.Clusters().List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return berth.Clusters().Watch(ctx, options)
		},
	}, &berthv1alpha1.Cluster{}, clk, c.markDirty)
	if err != nil {
		return nil, fmt.Errorf("preparing the watch of Clusters: %w", err)
	}
	c.policies, err = newSource(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return berth.PropagationPolicies(metav1.NamespaceAll).List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return berth.PropagationPolicies(metav1.NamespaceAll).Watch(ctx, options)
		},
	}, &berthv1alpha1.PropagationPolicy{}, clk, c.markDirty)
	if err != nil {
		return nil, fmt.Errorf("preparing the watch of PropagationPolicies: %w", err)
	}
	return c, nil
}

// Snapshot returns the newest picture, nil until the first lists have arrived.
func (c *Catalog) Snapshot() *Snapshot {
	return c.snapshot.Load()
}

// Unreadable returns why the first lists have not arrived for longer than the catalog's patience, nil otherwise.
func (c *Catalog) Unreadable() error {
	if failure := c.failure.Load(); failure != nil {
		return *failure
	}
	return nil
}

// Run watches until the context ends.
func (c *Catalog) Run(ctx context.Context) {
	go c.clusters.informer.RunWithContext(ctx)
	go c.policies.informer.RunWithContext(ctx)
	// The first sync of an informer with no objects comes with no event; and a failure becomes a reason by mere time.
	tick := time.NewTicker(firstSyncPoll)
	defer tick.Stop()
	pending := true
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.dirty:
			pending = !c.update(ctx)
		case <-tick.C:
			if pending {
				pending = !c.update(ctx)
			}
		}
	}
}

// firstSyncPoll is how often the catalog looks whether the first lists are there.
const firstSyncPoll = 50 * time.Millisecond

func (c *Catalog) markDirty() {
	select {
	case c.dirty <- struct{}{}:
	default:
	}
}

// update makes a new snapshot once both kinds have been read; before that it only notes what keeps them from being read,
// and returns false.
func (c *Catalog) update(ctx context.Context) bool {
	if !c.clusters.ready() || !c.policies.ready() {
		c.noteFailure(ctx)
		return false
	}
	before := c.snapshot.Load()
	after := build(typed[*berthv1alpha1.Cluster](c.clusters), typed[*berthv1alpha1.PropagationPolicy](c.policies), before)
	c.snapshot.Store(after)
	c.failure.Store(nil)
	c.onChange(before, after)
	return true
}

func (c *Catalog) noteFailure(ctx context.Context) {
	if c.snapshot.Load() != nil {
		return
	}
	for _, s := range []*source{c.clusters, c.policies} {
		since, err := s.failure()
		if err == nil || c.clock.Since(since) < c.patience {
			continue
		}
		known := c.failure.Swap(&err)
		if known == nil {
			klog.FromContext(ctx).Error(err, "Clusters or PropagationPolicies cannot be read, pods wait")
			c.onChange(nil, nil)
		}
		return
	}
}

func build(
	clusters []*berthv1alpha1.Cluster, policies []*berthv1alpha1.PropagationPolicy, before *Snapshot,
) *Snapshot {
	s := &Snapshot{
		Matcher:  policymatch.NewIndex(policies),
		policies: compile(policies, before),
		clusters: make(map[string]clusterVersion, len(clusters)),
	}
	for _, cluster := range clusters {
		s.clusters[cluster.Name] = clusterVersion{uid: cluster.UID, generation: cluster.Generation}
	}
	if before != nil && len(ChangedClusters(before, s)) == 0 {
		s.Membership = before.Membership
	} else {
		s.Membership = membership.NewIndex(clusters)
	}
	return s
}

func typed[T any](s *source) []T {
	objects := s.objects()
	list := make([]T, 0, len(objects))
	for _, object := range objects {
		if t, ok := object.(T); ok {
			list = append(list, t)
		}
	}
	return list
}

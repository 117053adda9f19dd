// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package oracle works out by itself what Berth has promised, for the judges of worlds full of
// faults, simulated ones and real ones. It shares no code with what decides.
package oracle

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// Settled is how long what was decided before a change may still arrive.
const Settled = 45 * time.Second

// Live reports whether a pod holds what it was given.
func Live(pod *corev1.Pod) bool {
	return pod.Spec.NodeName != "" && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

// Weights returns those of the clusters that a policy names.
func Weights(policy *berthv1alpha1.PropagationPolicy) map[string]int64 {
	weights := map[string]int64{}
	for _, entry := range policy.Spec.Placement.StaticWeightList {
		for _, name := range entry.ClusterNames {
			weights[name] = entry.Weight
		}
	}
	return weights
}

// Shares returns how many of some replicas each cluster is to have: the seats go one by one to the
// cluster with the largest weight/(2k-1), the k-th seat of a cluster.
func Shares(weights map[string]int64, replicas int) map[string]int {
	names := slices.Sorted(maps.Keys(weights))
	got := map[string]int{}
	if len(names) == 0 {
		return got
	}
	for range replicas {
		best := names[0]
		for _, name := range names[1:] {
			mine, other := weights[name]*int64(2*got[best]+1), weights[best]*int64(2*got[name]+1)
			if mine > other || mine == other && got[name] < got[best] {
				best = name
			}
		}
		got[best]++
	}
	return got
}

// Pool is what is known of a pool.
type Pool struct {
	// Capacity is what it has now.
	Capacity int64
	// before is the most that it had until since, and Settled before that.
	before int64
	since  time.Time
}

// NewPool returns a pool that has always had so much.
func NewPool(capacity int64) *Pool { return &Pool{Capacity: capacity, before: capacity} }

// Resize notes what the pool has from now on.
func (p *Pool) Resize(capacity int64, now time.Time) {
	if capacity == p.Capacity {
		return
	}
	before := p.Capacity
	if now.Sub(p.since) < Settled {
		before = max(before, p.before)
	}
	p.before, p.Capacity, p.since = before, capacity, now
}

// Most returns how much of the pool may be held: what was decided before it shrank counts for a
// while. A pool that is not there has nothing.
func (p *Pool) Most(now time.Time) int64 {
	switch {
	case p == nil:
		return 0
	case now.Sub(p.since) < Settled:
		return max(p.Capacity, p.before)
	}
	return p.Capacity
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/pkg/placement/pool"
)

// wish is what pods that wait want of a pool, in units.
type wish struct {
	wanted, least int64
	// first is the pod whose turn it is.
	first *corev1.Pod
}

// wishes returns what the pods that wait want of each pool, as far as what is left of the pools, in whosever grant it is, could
// serve them. Those that it could not serve would only keep others from it.
func (w *Waiting) wishes() map[pool.Key]*wish {
	w.mu.Lock()
	defer w.mu.Unlock()
	found, taken := map[pool.Key]*wish{}, map[pool.Key]int64{}
	for _, candidate := range w.order {
		if candidate.served {
			continue
		}
		for key, units := range w.wishesOf(candidate, taken) {
			taken[key] += units
			known := found[key]
			if known == nil {
				known = &wish{least: units, first: candidate.pod}
				found[key] = known
			}
			known.wanted += units
			known.least = min(known.least, units)
		}
	}
	return found
}

// wishesOf returns what a pod wants of each pool, nothing if not all its needs can be met beside what is taken. Of several pools it
// wants the one with most left; where all are charged, each that has enough.
func (w *Waiting) wishesOf(candidate *waiter, taken map[pool.Key]int64) map[pool.Key]int64 {
	wants := make(map[pool.Key]int64, len(candidate.needs))
	for _, n := range candidate.needs {
		known := w.free[n.resource]
		if known == nil {
			return nil
		}
		best, most := pool.Key{}, int64(-1)
		for _, name := range n.pools {
			key := pool.Key{Resource: n.resource, Pool: name}
			left := known.all[name] - taken[key]
			if left < n.units {
				continue
			}
			if known.resource.AllOf() {
				wants[key] = n.units
			}
			if left > most {
				best, most = key, left
			}
		}
		if most < 0 {
			return nil
		}
		wants[best] = n.units
	}
	return wants
}

// raised says that more of some pools may be given out than before, and returns the pods that this can serve.
func (w *Waiting) raised(by map[pool.Key]int64) []*corev1.Pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, units := range by {
		if known := w.free[key.Resource]; known != nil {
			known.byPool[key.Pool] += units
		}
	}
	return podsOf(w.choose(func(*waiter) bool { return true }))
}

// probeAfter is after what time without a scheduling cycle it is looked anew what is free.
const probeAfter = 3 * time.Second

// probes returns one pod for each ClusterResource of which it has not been looked for long what is free, and for which pods wait.
// What other schedulers give out and get back is seen in a scheduling cycle only.
func (w *Waiting) probes() []*corev1.Pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	var pods []*corev1.Pod
	probed := map[string]bool{}
	for _, candidate := range w.order {
		for _, n := range candidate.needs {
			known := w.free[n.resource]
			if !candidate.served && !probed[n.resource] && (known == nil || w.clock.Since(known.seen) > probeAfter) {
				probed[n.resource] = true
				pods = append(pods, candidate.pod)
				break
			}
		}
	}
	return pods
}

func podsOf(chosen []*waiter) []*corev1.Pod {
	pods := make([]*corev1.Pod, len(chosen))
	for i, waiter := range chosen {
		pods[i] = waiter.pod
	}
	return pods
}

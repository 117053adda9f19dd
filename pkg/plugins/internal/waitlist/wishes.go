// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package waitlist

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/pkg/placement/pool"
)

// Wish is what pods that wait want of a pool.
type Wish struct {
	// Wanted is how many units they want altogether, Least the fewest that serve one of them.
	Wanted, Least int64
	// First is the pod whose turn it is.
	First *corev1.Pod
}

// Wishes returns what the pods that wait want of each pool, as far as what is left of the pools, in
// whosever grant it is, could serve them. Those that it could not serve would only keep others from
// it.
func (w *Units) Wishes() map[pool.Key]*Wish {
	w.mu.Lock()
	defer w.mu.Unlock()
	found, taken := map[pool.Key]*Wish{}, map[pool.Key]int64{}
	for _, candidate := range w.order {
		if candidate.served {
			continue
		}
		for key, units := range w.wishesOf(candidate, taken) {
			taken[key] += units
			known := found[key]
			if known == nil {
				known = &Wish{Least: units, First: candidate.pod}
				found[key] = known
			}
			known.Wanted += units
			known.Least = min(known.Least, units)
		}
	}
	return found
}

// wishesOf returns what a pod wants of each pool, nothing if not all its needs can be met beside
// what is taken. Of several pools it wants the one with most left; where all are charged, each that
// has enough.
func (w *Units) wishesOf(candidate *claimant, taken map[pool.Key]int64) map[pool.Key]int64 {
	wants := make(map[pool.Key]int64, len(candidate.needs))
	for _, n := range candidate.needs {
		known := w.free[n.Resource]
		if known == nil {
			return nil
		}
		best, most := pool.Key{}, int64(-1)
		for _, name := range n.Pools {
			key := pool.Key{Resource: n.Resource, Pool: name}
			left := known.all[name] - taken[key]
			if left < n.Units {
				continue
			}
			if known.resource.AllOf() {
				wants[key] = n.Units
			}
			if left > most {
				best, most = key, left
			}
		}
		if most < 0 {
			return nil
		}
		wants[best] = n.Units
	}
	return wants
}

// Raised notes that so many units more of some pools may be given out than before, and returns the
// pods that this can serve.
func (w *Units) Raised(by map[pool.Key]int64) []*corev1.Pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, units := range by {
		if known := w.free[key.Resource]; known != nil {
			known.byPool[key.Pool] += units
		}
	}
	return podsOf(w.choose(func(*claimant) bool { return true }))
}

// probeAfter is the time without a scheduling cycle after which a pod is tried to see what is free.
const probeAfter = 3 * time.Second

// Probes returns one pod that waits for each ClusterResource of which no scheduling cycle has seen
// for long what is free. What other schedulers give out and get back is seen in a scheduling cycle
// only.
func (w *Units) Probes() []*corev1.Pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	var pods []*corev1.Pod
	probed := map[string]bool{}
	for _, candidate := range w.order {
		for _, n := range candidate.needs {
			known := w.free[n.Resource]
			if !candidate.served && !probed[n.Resource] && (known == nil || w.clock.Since(known.seen) > probeAfter) {
				probed[n.Resource] = true
				pods = append(pods, candidate.pod)
				break
			}
		}
	}
	return pods
}

func podsOf(chosen []*claimant) []*corev1.Pod {
	pods := make([]*corev1.Pod, len(chosen))
	for i, waiter := range chosen {
		pods[i] = waiter.pod
	}
	return pods
}

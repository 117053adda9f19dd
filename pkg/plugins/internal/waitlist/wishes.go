// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package waitlist

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"

	"berth.dev/berth/pkg/placement/pool"
)

// Wish is what pods that wait and have one priority want of a pool.
type Wish struct {
	// Wanted is how many units they want altogether, Least the fewest that serve one of them.
	Wanted, Least int64
	// First is the pod whose turn it is.
	First *corev1.Pod
}

// Wishes returns what the pods that wait want of each pool, the higher priority first, as far as
// what is left of the pools, in whosever grant it is, could serve them. Those that it could not
// serve would only keep others from it, and so would those that something else is in the way of:
// who was kept out of the queue, or rejected elsewhere, when it was offered enough.
func (w *Units) Wishes() map[pool.Key][]Wish {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.book.stocks {
		clear(s.taken)
	}
	found := map[pool.Key][]Wish{}
	for _, c := range w.order {
		if c.state == tried || c.blocked || !w.book.couldServe(c) {
			continue
		}
		for i := range c.needs {
			n := &c.needs[i]
			s := w.book.stocks[n.Resource]
			for _, p := range s.resource.Draws(n.site(s.resource, s.leftOfAll), s.leftOfAll, n.Units) {
				s.taken[p] = pool.AddUnits(s.taken[p], n.Units)
				key := pool.Key{Resource: n.Resource, Pool: s.resource.Pools()[p].Name}
				found[key] = wish(found[key], n.Units, c.pod)
			}
		}
	}
	return found
}

// wish adds what a pod wants, whose priority is the lowest so far.
func wish(wishes []Wish, units int64, pod *corev1.Pod) []Wish {
	last := len(wishes) - 1
	if last < 0 || corev1helpers.PodPriority(wishes[last].First) != corev1helpers.PodPriority(pod) {
		return append(wishes, Wish{Wanted: units, Least: units, First: pod})
	}
	known := &wishes[last]
	known.Wanted = pool.AddUnits(known.Wanted, units)
	known.Least = min(known.Least, units)
	return wishes
}

// couldServe reports whether all needs of a pod can be met beside what is taken, out of whosever
// grant.
func (b *book) couldServe(c *claimant) bool {
	for i := range c.needs {
		n := &c.needs[i]
		s := b.stocks[n.Resource]
		if s == nil || n.site(s.resource, s.leftOfAll) == nil {
			return false
		}
	}
	return len(c.needs) > 0
}

// Raised notes that so many units more of some pools may be given out than before, and returns the
// pods to wake.
func (w *Units) Raised(by map[pool.Key]int64) []*corev1.Pod {
	w.mu.Lock()
	for key, units := range by {
		w.book.raise(key, units)
	}
	w.choose()
	w.mu.Unlock()
	return w.takeChosen()
}

// Lifted notes that this process may give out everything now, whosever grant it was in, and returns
// the pods to wake: those of the given ones that can be served, and those that are not known to
// wait.
func (w *Units) Lifted(waiting []*corev1.Pod) []*corev1.Pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.book.lift()
	w.choose()
	pods := w.calls.take()
	for _, pod := range waiting {
		if w.pods[pod.UID] == nil {
			pods = append(pods, pod)
		}
	}
	return pods
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
	for _, c := range w.order {
		for i := range c.needs {
			resource := c.needs[i].Resource
			s := w.book.stocks[resource]
			if c.state != tried && !probed[resource] && (s == nil || w.clock.Since(s.found) > probeAfter) {
				probed[resource] = true
				pods = append(pods, c.pod)
				break
			}
		}
	}
	return pods
}

// Forget drops what is taken for free of ClusterResources that changed.
func (w *Units) Forget(changed func(resource string) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name := range w.book.stocks {
		if changed(name) {
			w.book.forget(name)
		}
	}
}

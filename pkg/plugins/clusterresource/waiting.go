// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/utils/clock"

	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/internal/waitlist"
)

// Waiting knows which pods wait for a release, and chooses whom one wakes: those that come first in the queue's order and
// that it can serve, not all of them. What it believes to be free is a guess that the next scheduling cycle corrects; a pod
// that is woken in vain, or that the guess left out, is looked at again within seconds. It is safe for concurrent use.
type Waiting struct {
	clock    clock.PassiveClock
	earmarks *Earmarks
	grants   *Grants

	mu    sync.Mutex
	pods  map[types.UID]*waiter
	order []*waiter
	free  map[string]*freeUnits
	// wakes are the latest releases and whom they woke.
	wakes waitlist.Recent[map[types.UID]bool]
	// strays are the charges of pods that somebody else placed, by pod.
	strays map[types.UID][]pool.Charge
}

// waiter is a pod that was rejected for want of a ClusterResource.
type waiter struct {
	pod   *corev1.Pod
	needs []need
	// offered is when the pod was last woken and has not been tried since; zero if it was tried.
	offered time.Time
	tries   int
	tried   time.Time
	// served is set while the pod, as far as it is known, does not wait for a release: it found enough of everything.
	served bool
	// everywhere is set if it was rejected by all nodes for want of a ClusterResource, so that only a release can help.
	everywhere bool
}

type need struct {
	resource string
	units    int64
	pools    []string // those of which a release can help
}

// freeUnits is what is believed to be free of a ClusterResource.
type freeUnits struct {
	resource *pool.Resource
	byPool   map[string]int64
	// all is what is free in whosever grant, and seen when a scheduling cycle found it.
	all  map[string]int64
	seen time.Time
}

const (
	// minRetry and maxRetry are between what pods that seem to fit and do not are tried again.
	minRetry, maxRetry = time.Second, 30 * time.Second
)

// NewWaiting returns an empty set. What is kept for one pod wakes no other.
func NewWaiting(clock clock.PassiveClock, earmarks *Earmarks, grants *Grants) *Waiting {
	return &Waiting{
		clock: clock, earmarks: earmarks, grants: grants, pods: map[types.UID]*waiter{}, free: map[string]*freeUnits{},
	}
}

// publish takes over what a scheduling cycle found free, and what pods hold that somebody else placed.
func (w *Waiting) publish(s *state, strays map[types.UID][]pool.Charge) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.strays = strays
	for i := range s.claims {
		c := &s.claims[i]
		r := c.places.Resource()
		known := w.free[r.Name()]
		if known == nil || known.resource != r {
			known = &freeUnits{resource: r, byPool: make(map[string]int64, len(c.free)), all: make(map[string]int64, len(c.free))}
			w.free[r.Name()] = known
		}
		for n, p := range r.Pools() {
			known.byPool[p.Name], known.all[p.Name] = c.free[n], c.all[n]
		}
		known.seen = w.clock.Now()
	}
}

// add says that a pod was rejected for want of what it claims. Nodes are those that there are.
func (w *Waiting) add(pod *corev1.Pod, s *state, nodes []fwk.NodeInfo) {
	needs, everywhere := needsOf(pod, s, nodes), s.usedUpEverywhere()
	w.mu.Lock()
	defer w.mu.Unlock()
	if known := w.pods[pod.UID]; known != nil {
		if !known.offered.IsZero() {
			known.tries++ // it was woken in vain
		}
		known.pod, known.needs, known.offered, known.tried, known.served = pod, needs, time.Time{}, w.clock.Now(), false
		known.everywhere = everywhere
		return
	}
	added := &waiter{pod: pod, needs: needs, tried: w.clock.Now(), everywhere: everywhere}
	w.pods[pod.UID] = added
	at, _ := slices.BinarySearchFunc(w.order, added, compareWaiters)
	w.order = slices.Insert(w.order, at, added)
}

func compareWaiters(a, b *waiter) int {
	return waitlist.Compare(a.pod, b.pod)
}

// Has says whether a pod waits for a release and for nothing else.
func (w *Waiting) Has(pod types.UID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := w.pods[pod]
	return known != nil && known.everywhere && !known.served
}

// served says that a pod found enough of everything. If it is rejected all the same, then for another reason.
func (w *Waiting) served(pod types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if known := w.pods[pod]; known != nil {
		known.served = true
	}
}

// Drop forgets a pod that does not wait any longer.
func (w *Waiting) Drop(pod types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(pod)
}

func (w *Waiting) drop(pod types.UID) {
	if known := w.pods[pod]; known != nil {
		delete(w.pods, pod)
		w.order = slices.DeleteFunc(w.order, func(other *waiter) bool { return other == known })
	}
}

// reserved says that a pod got what it waited for.
func (w *Waiting) reserved(pod types.UID, charges []pool.Charge) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(pod)
	w.book(charges, -1)
}

// released says that a pod gave back what had been reserved for it.
func (w *Waiting) released(charges []pool.Charge) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.book(charges, 1)
}

func (w *Waiting) book(charges []pool.Charge, sign int64) {
	for _, c := range charges {
		if known := w.free[c.Resource]; known != nil {
			units := pool.UnitsUp(c.Quantity, known.resource.Unit())
			if known.all[c.Pool] += sign * units; sign < 0 || w.grants.mine(c) {
				known.byPool[c.Pool] += sign * units
			}
		}
	}
}

// wokenBy says whether the release of what a pod held is a reason to try another one: yes for those that the release was
// chosen to serve, and for pods that it did not know to be waiting.
func (w *Waiting) wokenBy(pod, released *corev1.Pod, charges []pool.Charge) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	woken, known := w.wakes.Get(released)
	if !known {
		if charges == nil {
			charges = w.strays[released.UID]
		}
		w.book(charges, 1)
		woken = w.chooseUIDs()
		w.wakes.Put(released, woken)
	}
	waits := w.pods[pod.UID]
	return woken[pod.UID] || waits == nil || waits.served
}

func (w *Waiting) chooseUIDs() map[types.UID]bool {
	chosen := map[types.UID]bool{}
	for _, waiter := range w.choose(func(*waiter) bool { return true }) {
		waiter.tries = 0
		chosen[waiter.pod.UID] = true
	}
	return chosen
}

// due returns the pods that seem to fit, as far as they have not been tried in vain a moment ago.
func (w *Waiting) due() []*corev1.Pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	due := w.choose(func(candidate *waiter) bool {
		pause := min(maxRetry, minRetry<<min(candidate.tries, 5))
		return w.clock.Since(candidate.tried) >= pause
	})
	return podsOf(due)
}

// choose returns the pods that what is free can serve, in their order, and offers it to them.
func (w *Waiting) choose(eligible func(*waiter) bool) []*waiter {
	now, taken, kept := w.clock.Now(), map[pool.Key]int64{}, w.earmarks.kept()
	for _, charges := range kept {
		w.count(taken, charges, 1)
	}
	var chosen []*waiter
	for _, candidate := range w.order {
		offered := !candidate.offered.IsZero() && now.Sub(candidate.offered) < waitlist.OfferTimeout
		if !offered && (candidate.served || !eligible(candidate)) {
			continue
		}
		w.count(taken, kept[candidate.pod.UID], -1)
		if !w.serve(candidate, taken) {
			w.count(taken, kept[candidate.pod.UID], 1)
			continue
		}
		if offered {
			continue
		}
		candidate.offered = now
		chosen = append(chosen, candidate)
	}
	return chosen
}

// count adds charges to what is taken of each pool, or takes them away.
func (w *Waiting) count(taken map[pool.Key]int64, charges []pool.Charge, sign int64) {
	for _, c := range charges {
		if known := w.free[c.Resource]; known != nil {
			taken[pool.Key{Resource: c.Resource, Pool: c.Pool}] += sign * pool.UnitsUp(c.Quantity, known.resource.Unit())
		}
	}
}

// serve takes what a pod needs, from some pool of each resource, and reports whether enough is left beside what is taken. Which
// pool the pod would be charged to depends on its node; the guess is the fullest.
func (w *Waiting) serve(candidate *waiter, taken map[pool.Key]int64) bool {
	from := make([]pool.Key, 0, len(candidate.needs))
	for _, n := range candidate.needs {
		known := w.free[n.resource]
		if known == nil {
			return false
		}
		best, most := "", int64(-1)
		for _, name := range n.pools {
			free := known.byPool[name] - taken[pool.Key{Resource: n.resource, Pool: name}]
			if free >= n.units && free > most {
				best, most = name, free
			}
		}
		if most < 0 {
			return false
		}
		from = append(from, pool.Key{Resource: n.resource, Pool: best})
	}
	for i, n := range candidate.needs {
		taken[from[i]] += n.units
	}
	return true
}

// forget drops what is believed of ClusterResources that changed.
func (w *Waiting) forget(changed func(resource string) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name := range w.free {
		if changed(name) {
			delete(w.free, name)
		}
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package waitlist

import (
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"berth.dev/berth/pkg/placement/pool"
)

// Units knows which pods wait for units of ClusterResources to be released, and chooses whom a
// release wakes: the pods that come first in the queue's order and that it can serve, not all of
// them. What it takes for free is a guess that the next scheduling cycle corrects; a pod that is
// woken in vain, or that the guess left out, is looked at again within seconds. It is safe for
// concurrent use.
//
// A pod is in one of these states:
//
//	state    event                       next     effect
//	unknown  Rejected                    waiting  it is put in the queue's order
//	waiting  a release or Due chooses it offered  what it needs is kept from those behind it
//	offered  Rejected                    waiting  Due waits longer: it was woken in vain
//	offered  OfferTimeout passes         waiting  what it needed is free for others again
//	any      Served                      served   no release is for it; an offer lasts on until
//	                                              OfferTimeout
//	served   Rejected                    waiting
//	any      Reserved, Drop              unknown
type Units struct {
	clock    clock.PassiveClock
	earmarks Earmarks
	mine     func(pool.Charge) bool

	mu    sync.Mutex
	pods  map[types.UID]*claimant
	order []*claimant
	free  map[string]*freeUnits
	// wakes are the latest releases and whom they woke.
	wakes Recent[map[types.UID]bool]
	// strays are the charges of pods that somebody else placed, by pod.
	strays map[types.UID][]pool.Charge
}

// claimant is a pod that was rejected for want of a ClusterResource.
type claimant struct {
	pod   *corev1.Pod
	needs []Need
	// offered is when the pod was last woken and has not been tried since; zero if it was tried.
	offered time.Time
	tries   int
	tried   time.Time
	// served is set while the pod, as far as it is known, does not wait for a release: it found
	// enough of everything.
	served bool
	// everywhere is set if it was rejected by all nodes for want of a ClusterResource, so that only
	// a release can help.
	everywhere bool
}

// Need is what a pod waits for of one ClusterResource.
type Need struct {
	// Resource is the name of the ClusterResource.
	Resource string
	// Units is how many the pod asks for.
	Units int64
	// Pools are the names of those of which a release can help.
	Pools []string
}

// Earmarks are what is kept for pods that others make way for.
type Earmarks interface {
	// Kept returns what is kept for each pod that is not charged itself. It must not call the
	// Units.
	Kept() map[types.UID][]pool.Charge
}

// freeUnits is what is taken for free of a ClusterResource.
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

// NewUnits returns an empty set. What is kept for one pod wakes no other. Mine reports whether what
// a charge gives back can be given out again by this process.
func NewUnits(clock clock.PassiveClock, earmarks Earmarks, mine func(pool.Charge) bool) *Units {
	return &Units{
		clock: clock, earmarks: earmarks, mine: mine, pods: map[types.UID]*claimant{}, free: map[string]*freeUnits{},
	}
}

// Observe takes over what a scheduling cycle found left of each pool of a ClusterResource, in
// units: own within the grant of this process, all in whosever grant.
func (w *Units) Observe(r *pool.Resource, own, all []int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := w.free[r.Name()]
	if known == nil || known.resource != r {
		known = &freeUnits{resource: r, byPool: make(map[string]int64, len(own)), all: make(map[string]int64, len(all))}
		w.free[r.Name()] = known
	}
	for n, p := range r.Pools() {
		known.byPool[p.Name], known.all[p.Name] = own[n], all[n]
	}
	known.seen = w.clock.Now()
}

// ObserveStrays takes over what a scheduling cycle found that pods hold which somebody else placed.
// It must not be changed.
func (w *Units) ObserveStrays(strays map[types.UID][]pool.Charge) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.strays = strays
}

// Rejected notes that a pod was rejected for want of what it needs; everywhere is set if all nodes
// rejected it for that, so that only a release can help.
func (w *Units) Rejected(pod *corev1.Pod, needs []Need, everywhere bool) {
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
	added := &claimant{pod: pod, needs: needs, tried: w.clock.Now(), everywhere: everywhere}
	w.pods[pod.UID] = added
	at, _ := slices.BinarySearchFunc(w.order, added, func(a, b *claimant) int { return comparePods(a.pod, b.pod) })
	w.order = slices.Insert(w.order, at, added)
}

// Has reports whether a pod waits for a release and for nothing else.
func (w *Units) Has(pod types.UID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := w.pods[pod]
	return known != nil && known.everywhere && !known.served
}

// Served notes that a pod found enough of everything. If it is rejected all the same, then for
// another reason.
func (w *Units) Served(pod types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if known := w.pods[pod]; known != nil {
		known.served = true
	}
}

// Drop forgets a pod that does not wait any longer.
func (w *Units) Drop(pod types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(pod)
}

func (w *Units) drop(pod types.UID) {
	if known := w.pods[pod]; known != nil {
		delete(w.pods, pod)
		w.order = slices.DeleteFunc(w.order, func(other *claimant) bool { return other == known })
	}
}

// Reserved notes that a pod got what it waited for.
func (w *Units) Reserved(pod types.UID, charges []pool.Charge) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(pod)
	w.book(charges, -1)
}

// Released notes that a pod gave back what had been reserved for it.
func (w *Units) Released(charges []pool.Charge) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.book(charges, 1)
}

func (w *Units) book(charges []pool.Charge, sign int64) {
	for _, c := range charges {
		if known := w.free[c.Resource]; known != nil {
			units := pool.UnitsUp(c.Quantity, known.resource.Unit())
			if known.all[c.Pool] += sign * units; sign < 0 || w.mine(c) {
				known.byPool[c.Pool] += sign * units
			}
		}
	}
}

// WokenBy reports whether the release of what a pod held is a reason to try another one: yes for
// those that the release was chosen to serve, and for pods that it did not know to be waiting.
func (w *Units) WokenBy(pod, released *corev1.Pod, charges []pool.Charge) bool {
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

func (w *Units) chooseUIDs() map[types.UID]bool {
	chosen := map[types.UID]bool{}
	for _, waiter := range w.choose(func(*claimant) bool { return true }) {
		waiter.tries = 0
		chosen[waiter.pod.UID] = true
	}
	return chosen
}

// Due returns the pods that seem to fit, as far as they have not been tried in vain a moment ago.
func (w *Units) Due() []*corev1.Pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	due := w.choose(func(candidate *claimant) bool {
		pause := min(maxRetry, minRetry<<min(candidate.tries, 5))
		return w.clock.Since(candidate.tried) >= pause
	})
	return podsOf(due)
}

// choose returns the pods that what is free can serve, in their order, and offers it to them.
func (w *Units) choose(eligible func(*claimant) bool) []*claimant {
	now, taken, kept := w.clock.Now(), map[pool.Key]int64{}, w.earmarks.Kept()
	for _, charges := range kept {
		w.count(taken, charges, 1)
	}
	var chosen []*claimant
	for _, candidate := range w.order {
		offered := !candidate.offered.IsZero() && now.Sub(candidate.offered) < OfferTimeout
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
func (w *Units) count(taken map[pool.Key]int64, charges []pool.Charge, sign int64) {
	for _, c := range charges {
		if known := w.free[c.Resource]; known != nil {
			taken[pool.Key{Resource: c.Resource, Pool: c.Pool}] += sign * pool.UnitsUp(c.Quantity, known.resource.Unit())
		}
	}
}

// serve takes what a pod needs, from some pool of each resource, and reports whether enough is left
// beside what is taken. Which pool the pod would be charged to depends on its node; the guess is
// the fullest.
func (w *Units) serve(candidate *claimant, taken map[pool.Key]int64) bool {
	from := make([]pool.Key, 0, len(candidate.needs))
	for _, n := range candidate.needs {
		known := w.free[n.Resource]
		if known == nil {
			return false
		}
		best, most := "", int64(-1)
		for _, name := range n.Pools {
			free := known.byPool[name] - taken[pool.Key{Resource: n.Resource, Pool: name}]
			if free >= n.Units && free > most {
				best, most = name, free
			}
		}
		if most < 0 {
			return false
		}
		from = append(from, pool.Key{Resource: n.Resource, Pool: best})
	}
	for i, n := range candidate.needs {
		taken[from[i]] += n.Units
	}
	return true
}

// Forget drops what is taken for free of ClusterResources that changed.
func (w *Units) Forget(changed func(resource string) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name := range w.free {
		if changed(name) {
			delete(w.free, name)
		}
	}
}

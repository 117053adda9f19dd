// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package waitlist

import (
	"iter"
	"math"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"berth.dev/berth/pkg/model/demand"
	"berth.dev/berth/pkg/placement/pool"
)

// Units knows which pods wait for units of ClusterResources to be released, and chooses whom a
// release wakes. What it takes for free is what the latest scheduling cycle found, with what has
// been released and charged since. It is safe for concurrent use.
type Units struct {
	clock    clock.PassiveClock
	earmarks Earmarks
	mine     func(pool.Charge) bool
	// waits reports whether a pod still is there and has no node.
	waits func(*corev1.Pod) bool

	mu    sync.Mutex
	calls calls
	pods  map[types.UID]*claimant
	order []*claimant
	book  book
	// dirty is set if a cycle has found something free, and nobody has been chosen for it yet.
	dirty bool
	// spared is set if a pod got something else than what was kept for it.
	spared bool
	// returns are the pods that gave back what they got without being bound, and when.
	returns map[types.UID]giveBack
	// releases are the latest and whom they woke.
	releases Recent[map[types.UID]bool]
	// strays are the charges of pods that somebody else placed, by pod.
	strays map[types.UID][]pool.Charge
}

// claimant is a pod that was rejected for want of a ClusterResource.
type claimant struct {
	attempt

	pod   *corev1.Pod
	needs []Need
	// newest is the newest change when it was offered something, and seen the newest one that its
	// attempt saw. Changes up to vain have been tried in vain.
	newest, seen, vain Change
	// everywhere is set if it was rejected by all nodes for want of a ClusterResource, so that only
	// a release can help.
	everywhere bool
	// blocked is set if something else was in its way when it was offered enough last.
	blocked bool
	// rejected is when it was rejected last, near is set if that was a short while ago.
	rejected time.Time
	near     bool
}

// giveBack is how often a pod gave back what it got, and when it did last.
type giveBack struct {
	times int
	last  time.Time
}

// minPause and maxPause are how long a pod is offered nothing that gave back what it got: the
// members of a gang that cannot be completed would take it from each other without end.
const minPause, maxPause = time.Second, 30 * time.Second

// pauses reports whether a pod is offered nothing for now.
func (g giveBack) pauses(now time.Time) bool {
	return g.times > 0 && now.Sub(g.last) < min(maxPause, minPause<<min(g.times-1, 5))
}

// Need is what a pod waits for of one ClusterResource.
type Need struct {
	// Resource is the name of the ClusterResource.
	Resource string
	// Units is how many the pod asks for.
	Units int64
	// Sites are the pools that can serve the pod together, by their names: with mode AllOf those
	// that are charged together on some node, otherwise those of which one suffices. Without any,
	// no release helps.
	Sites [][]string
	// Near are those of the sites that other plugins left to the pod when it was tried, nil if all.
	// The pod may get the others if its policy or its home change, so it is woken for them, too.
	Near [][]string

	// at and near are the sites as indexes of the pools of a resource.
	resource *pool.Resource
	at, near [][]int32
}

// Earmarks are what is kept for pods that others make way for.
type Earmarks interface {
	// Kept returns what is kept for pods that are not charged themselves, the highest priority
	// first, in a slice of its own. It must not call the Units.
	Kept() []Mark
}

// Mark is what is kept for a pod, from others up to a priority.
type Mark struct {
	// Pod is the one for which it is kept, nil if that waits for another scheduler.
	Pod *corev1.Pod
	// Priority is the highest of those from which it is kept.
	Priority int32
	// Charges are what is kept.
	Charges []pool.Charge
	// Applies, unless it is nil, reports whether it is kept while so many units of the pool of its
	// only charge are left, in whosever grant.
	Applies func(left int64) bool
}

// isFor reports whether something is kept for a pod.
func (m *Mark) isFor(pod types.UID) bool {
	return m.Pod != nil && m.Pod.UID == pod
}

// NewUnits returns an empty set. What is kept for one pod wakes no other. Mine reports whether what
// a charge gives back can be given out again by this process, and waits whether a pod still is
// there and has no node.
func NewUnits(
	clock clock.PassiveClock, earmarks Earmarks, mine func(pool.Charge) bool, waits func(*corev1.Pod) bool,
) *Units {
	return &Units{
		clock: clock, earmarks: earmarks, mine: mine, waits: waits, calls: newCalls(),
		pods: map[types.UID]*claimant{}, returns: map[types.UID]giveBack{},
	}
}

// Now returns the newest change. A scheduling cycle asks before it finds out what is free.
func (w *Units) Now() Change {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.book.newest
}

// Observe takes over what a scheduling cycle found, and returns the newest change that it has
// counted together with all before it. Strays are what pods hold which somebody else placed; they
// must not be changed.
func (w *Units) Observe(c *Cycle, strays map[types.UID][]pool.Charge, found iter.Seq[Found]) (seen Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.strays = strays
	before, now, missed := w.book.newest, w.clock.Now(), Change(math.MaxInt64)
	for f := range found {
		missed = min(missed, w.book.observe(c, &f))
		w.book.stocks[f.Resource.Name()].found = now
	}
	w.dirty = w.dirty || w.book.newest > before
	return min(missed-1, w.book.newest)
}

// Rejected notes that a pod was rejected for want of what it needs, in an attempt that saw the
// changes up to seen; everywhere is set if all nodes rejected it for that, so that only a release
// can help. Without needs it is rejected for something else.
func (w *Units) Rejected(pod *corev1.Pod, needs []Need, everywhere bool, seen Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := w.pods[pod.UID]
	if known == nil {
		known = w.insert(pod)
	}
	left := known.state != asleep
	known.pod, known.needs, known.everywhere, known.blocked = pod, needs, everywhere, false
	known.fail(seen)
	known.told, known.rejected = true, w.clock.Now()
	if !w.waits(pod) {
		w.drop(pod.UID) // it went while it was tried, and nobody will say so again
	}
	if left || w.dirty || seen < w.book.newest {
		w.choose()
	}
}

func (w *Units) insert(pod *corev1.Pod) *claimant {
	added := &claimant{pod: pod}
	w.pods[pod.UID] = added
	at, _ := slices.BinarySearchFunc(w.order, added, func(a, b *claimant) int { return comparePods(a.pod, b.pod) })
	w.order = slices.Insert(w.order, at, added)
	return added
}

// fail ends an attempt that saw the changes up to seen.
func (c *claimant) fail(seen Change) {
	c.sleep()
	c.vain = max(c.vain, seen)
}

// Has reports whether a pod waits for a release and for nothing else.
func (w *Units) Has(pod types.UID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := w.pods[pod]
	return known != nil && known.everywhere && known.state != tried
}

// Served notes that a scheduling cycle that saw the changes up to seen found enough for a pod. If
// the pod is rejected all the same, then for another reason.
func (w *Units) Served(pod types.UID, seen Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if known := w.pods[pod]; known != nil {
		known.state, known.seen, known.since, known.told = tried, seen, w.clock.Now(), false
	}
	if w.dirty {
		w.choose()
	}
}

// Again notes that a pod was rejected in an attempt that looked at some nodes, and is about to be
// tried on all.
func (w *Units) Again(pod types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if known := w.pods[pod]; known != nil {
		known.again = true
	}
}

// Ended notes that an attempt to schedule a pod has failed, for whatever reason. If that was not
// said by Rejected, the pod was rejected elsewhere.
func (w *Units) Ended(pod types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if known := w.pods[pod]; known != nil && known.ended(w.clock.Now()) {
		known.giveUp()
		w.choose()
	}
}

// keepOut notes that a pod which was woken is kept out of the queue.
func (w *Units) keepOut(pod types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if known := w.pods[pod]; known != nil && known.state == offered && known.over(w.clock.Now()) {
		known.giveUp()
		w.choose()
	}
}

// Drop forgets a pod that does not wait any longer, or asks for something else.
func (w *Units) Drop(pod types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.returns, pod)
	if w.pods[pod] != nil {
		w.drop(pod)
		w.choose()
	}
}

func (w *Units) drop(pod types.UID) {
	if known := w.pods[pod]; known != nil {
		delete(w.pods, pod)
		w.calls.drop(pod)
		w.order = slices.DeleteFunc(w.order, func(other *claimant) bool { return other == known })
	}
}

// Reserved notes that a pod got what it waited for. What was kept for it instead is offered to
// others outside of the scheduling cycle.
func (w *Units) Reserved(pod types.UID, charges []pool.Charge) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if known := w.pods[pod]; known != nil && known.state != asleep {
		w.spared = true
		w.calls.signal()
	}
	w.drop(pod)
	w.book.charge(pod, charges)
}

// Released notes that a pod that is not on a node gave back what it was charged.
func (w *Units) Released(pod types.UID, charges []pool.Charge) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.book.release(pod, charges, w.mine)
	w.choose()
}

// Returned notes that a pod gave back what it got, because it could not be bound.
func (w *Units) Returned(pod *corev1.Pod, charges []pool.Charge) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.book.release(pod.UID, charges, w.mine)
	w.returns[pod.UID] = giveBack{times: w.returns[pod.UID].times + 1, last: w.clock.Now()}
	if !w.waits(pod) {
		delete(w.returns, pod.UID)
	}
	w.choose()
}

// WokenBy reports whether the release of what a pod held is a reason to try another one: yes for
// those that the release was chosen to serve, and for pods that it did not know to be waiting. The
// scheduler must know that the pod is gone.
func (w *Units) WokenBy(pod, released *corev1.Pod, charges []pool.Charge) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	woken := w.gone(released, charges)
	return woken[pod.UID] || w.pods[pod.UID] == nil
}

// Gone notes, for pods on nodes of which the queue may ask nobody, that a pod is gone. It may be
// called more than once.
func (w *Units) Gone(released *corev1.Pod, charges []pool.Charge) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gone(released, charges)
}

func (w *Units) gone(released *corev1.Pod, charges []pool.Charge) map[types.UID]bool {
	woken, known := w.releases.Get(released)
	if !known {
		if charges == nil {
			charges = w.unstamped(released)
		}
		w.book.release(released.UID, charges, w.mine)
		woken = w.choose()
		w.releases.Put(released, woken)
	}
	return woken
}

// unstamped returns what a pod held that carries no charges. If no scheduling cycle has counted it
// as a stray, because its stamp was there until then, that is as much as it asks for, of whichever
// pool: the next cycle finds out.
func (w *Units) unstamped(pod *corev1.Pod) []pool.Charge {
	charges, counted := w.strays[pod.UID]
	if counted {
		return charges
	}
	requests, _ := demand.Of(pod)
	for _, r := range requests {
		if s := w.book.stocks[r.Resource]; s != nil {
			for _, p := range s.resource.Pools() {
				charges = append(charges, pool.Charge{Resource: r.Resource, Pool: p.Name, Quantity: r.Quantity})
			}
		}
	}
	return charges
}

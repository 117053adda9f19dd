// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package preemption

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/utils/clock"

	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/internal/waitlist"
)

// earmarkTime is how long what victims give back is kept beyond the time they have to end.
const earmarkTime = time.Minute

// Earmarks keep what pods give back for the pod that they made way for: until it is bound, deleted
// or takes too long, no pod of the same or a lower priority gets it, on whatever node. They are
// safe for concurrent use.
//
// An earmark is in one of these states:
//
//	state      since                            until
//	evicting   Preempt chose victims            kept: all are deleted; gone: one could not be
//	kept       Preempt found that the pods on   suspended: Reserve; gone: Drop, or its time is up
//	           their way out suffice
//	nominated  Nominate: after a new start, or  kept: the next cycle works out what it keeps
//	           pods make way for something else
//	kept       the victims are deleted          suspended: Reserve; gone: Drop, its time is up, or
//	                                            a plugin keeps the pod out of the queue
//	suspended  Reserve charged the pod itself   kept: Unreserve; gone: Drop, because it is bound
type Earmarks struct {
	clock clock.PassiveClock

	mu    sync.Mutex
	byPod map[types.UID]*earmark
	// failed are the pods whose latest attempt failed after it had reserved what they ask for. The
	// scheduler nominates pods that wait for permission to their nodes, and does not always take
	// that back.
	failed map[types.UID]bool
}

type earmark struct {
	// pod is the one for which something is kept.
	pod      *corev1.Pod
	priority int32
	charges  []pool.Charge
	until    time.Time
	// victims are the pods that make way. The pod can be tried again before the scheduler sees that
	// they are terminating.
	victims map[types.UID]bool
	// evicting is set while the pods that make way are being deleted.
	evicting bool
	// node is the one to which the pod is nominated, until it is worked out what that keeps.
	node string
	// suspended is set while the pod itself is charged.
	suspended bool
	// heldSince is since when a plugin keeps the pod out of the queue, zero if none does.
	heldSince time.Time
}

// NewEarmarks returns an empty set.
func NewEarmarks(clock clock.PassiveClock) *Earmarks {
	return &Earmarks{clock: clock, byPod: map[types.UID]*earmark{}, failed: map[types.UID]bool{}}
}

// put keeps for a pod what it will be charged, for a period that begins with the deletion of
// others.
func (e *Earmarks) put(pod *corev1.Pod, plan *plan, period time.Duration) {
	mark := &earmark{
		pod: pod, priority: corev1helpers.PodPriority(pod), charges: plan.charges, until: e.clock.Now().Add(period),
		evicting: true, victims: map[types.UID]bool{},
	}
	for _, victim := range plan.victims {
		mark.victims[victim.UID] = true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.byPod[pod.UID] = mark
}

// maxAwaiting bounds the pods for which await keeps something. Those of one priority may wait for
// the same units, and each is told that they suffice.
const maxAwaiting = 64

// await keeps for a pod what others give back that are on their way out anyway, from pods of a
// lower priority. Among those of its own the order of the queue decides. What is kept for it
// already is kept at least as long.
func (e *Earmarks) await(pod *corev1.Pod, charges []pool.Charge, period time.Duration) {
	priority := corev1helpers.PodPriority(pod)
	e.mu.Lock()
	defer e.mu.Unlock()
	until := e.clock.Now().Add(period)
	if mark := e.byPod[pod.UID]; mark != nil {
		if until.After(mark.until) {
			mark.until = until
		}
		return
	}
	if len(e.byPod) >= maxAwaiting || priority == math.MinInt32 || len(charges) == 0 {
		return
	}
	e.byPod[pod.UID] = &earmark{pod: pod, priority: priority - 1, charges: charges, until: until}
}

// isVictim reports whether a pod makes way for another one. It may not be seen to terminate yet.
func (e *Earmarks) isVictim(pod types.UID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, mark := range e.byPod {
		if mark.victims[pod] {
			return true
		}
	}
	return false
}

// Nominate keeps what a pod that waits and asks for ClusterResources would be charged on the node
// to which it is nominated: another process may have made others make way for it, or they make way
// for something else that it lacks there. It changes nothing if something is kept for the pod.
func (e *Earmarks) Nominate(pod *corev1.Pod, node string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.byPod[pod.UID] == nil {
		e.byPod[pod.UID] = &earmark{
			pod: pod, priority: corev1helpers.PodPriority(pod), until: e.clock.Now().Add(earmarkTime), node: node,
		}
	}
}

// heldTime is how long something is kept for a pod that a plugin keeps out of the queue. One that
// waits for its victims is let in once these have been deleted.
const heldTime = 5 * time.Second

// DropHeld drops what is kept for pods that have been kept out of the queue for a while, so that
// they cannot use it. It must be called time and again. Held reports whether a plugin keeps a pod
// out of the queue at present.
func (e *Earmarks) DropHeld(held func(*corev1.Pod) bool) {
	for _, pod := range e.owners() {
		out := held(pod) // which asks the Earmarks
		e.mu.Lock()
		mark, now := e.byPod[pod.UID], e.clock.Now()
		switch {
		case mark == nil:
		case !out || mark.evicting || mark.suspended:
			mark.heldSince = time.Time{}
		case mark.heldSince.IsZero():
			mark.heldSince = now
		case now.Sub(mark.heldSince) >= heldTime:
			delete(e.byPod, pod.UID)
		}
		e.mu.Unlock()
	}
}

// owners returns the pods for which something is kept.
func (e *Earmarks) owners() []*corev1.Pod {
	e.mu.Lock()
	defer e.mu.Unlock()
	owners := make([]*corev1.Pod, 0, len(e.byPod))
	for _, mark := range e.byPod {
		owners = append(owners, mark.pod)
	}
	return owners
}

// evicted notes that the pods that make way have been deleted, or could not be.
func (e *Earmarks) evicted(pod types.UID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if mark := e.byPod[pod]; mark != nil {
		mark.evicting = false
	}
}

// SetFailed notes that an attempt of the pod failed after Reserve, or with false that the next one
// begins.
func (e *Earmarks) SetFailed(pod types.UID, failed bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if failed {
		e.failed[pod] = true
	} else {
		delete(e.failed, pod)
	}
}

// NominationCounts reports whether what a pod would be charged on the node to which it is nominated
// must be kept for it: if no earmark keeps it, and the nomination was not left over by an attempt
// that failed.
func (e *Earmarks) NominationCounts(pod types.UID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.byPod[pod] == nil && !e.failed[pod]
}

// Suspend notes whether the pod itself is charged at present.
func (e *Earmarks) Suspend(pod types.UID, suspended bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if mark := e.byPod[pod]; mark != nil {
		mark.suspended = suspended
	}
}

// Drop forgets what was kept for a pod. It may be called for pods for which nothing is.
func (e *Earmarks) Drop(pod types.UID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.byPod, pod)
	delete(e.failed, pod)
}

// Evicting reports whether pods are being deleted for the pod at present.
func (e *Earmarks) Evicting(pod types.UID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	mark := e.byPod[pod]
	return mark != nil && mark.evicting
}

// Against returns what is kept for others and may not be given to the pod, and drops what has been
// kept for too long. Owed returns what a pod would be charged on a node.
func (e *Earmarks) Against(
	pod *corev1.Pod, owed func(pod *corev1.Pod, node string) []pool.Charge,
) [][]pool.Charge {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.byPod) == 0 {
		return nil
	}
	var kept [][]pool.Charge
	now, priority := e.clock.Now(), corev1helpers.PodPriority(pod)
	for uid, mark := range e.byPod {
		if mark.node != "" {
			mark.charges, mark.node = owed(mark.pod, mark.node), ""
		}
		switch {
		case now.After(mark.until):
			delete(e.byPod, uid)
		case uid != pod.UID && !mark.suspended && mark.priority >= priority:
			kept = append(kept, mark.charges)
		}
	}
	return kept
}

// Kept returns what is kept for pods that are not charged themselves, the highest priority first.
func (e *Earmarks) Kept() []waitlist.Mark {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.byPod) == 0 {
		return nil
	}
	now, kept := e.clock.Now(), make([]waitlist.Mark, 0, len(e.byPod))
	for _, mark := range e.byPod {
		if !mark.suspended && now.Before(mark.until) {
			kept = append(kept, waitlist.Mark{Pod: mark.pod, Priority: mark.priority, Charges: mark.charges})
		}
	}
	slices.SortFunc(kept, func(a, b waitlist.Mark) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Pod.UID, b.Pod.UID))
	})
	return kept
}

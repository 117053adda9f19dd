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
//	restored   Restore, after a new start       kept: the next cycle works out what it keeps
//	kept       the victims are deleted          suspended: Reserve; gone: Drop, or its time is up
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
	priority int32
	charges  []pool.Charge
	until    time.Time
	// victims are the pods that make way. The pod can be tried again before the scheduler sees that
	// they are terminating.
	victims map[types.UID]bool
	// evicting is set while the pods that make way are being deleted.
	evicting bool
	// restored is the pod if the process that made the earmark is gone, until it is worked out
	// again what it keeps.
	restored *corev1.Pod
	// suspended is set while the pod itself is charged.
	suspended bool
}

// NewEarmarks returns an empty set.
func NewEarmarks(clock clock.PassiveClock) *Earmarks {
	return &Earmarks{clock: clock, byPod: map[types.UID]*earmark{}, failed: map[types.UID]bool{}}
}

// put keeps for a pod what it will be charged, for a period that begins with the deletion of
// others.
func (e *Earmarks) put(pod *corev1.Pod, plan *plan, period time.Duration) {
	mark := &earmark{
		priority: corev1helpers.PodPriority(pod), charges: plan.charges, until: e.clock.Now().Add(period),
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
// lower priority. Among those of its own the order of the queue decides.
func (e *Earmarks) await(pod *corev1.Pod, charges []pool.Charge, period time.Duration) {
	priority := corev1helpers.PodPriority(pod)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.byPod[pod.UID] != nil || len(e.byPod) >= maxAwaiting || priority == math.MinInt32 || len(charges) == 0 {
		return
	}
	e.byPod[pod.UID] = &earmark{priority: priority - 1, charges: charges, until: e.clock.Now().Add(period)}
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

// Restore keeps again what another process may have kept for a pod: one that waits, was nominated
// to a node and asks for ClusterResources.
func (e *Earmarks) Restore(pod *corev1.Pod) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.byPod[pod.UID] = &earmark{
		priority: corev1helpers.PodPriority(pod), until: e.clock.Now().Add(earmarkTime), restored: pod,
	}
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

// Has reports whether something is kept for the pod.
func (e *Earmarks) Has(pod types.UID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.byPod[pod] != nil
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
		if mark.restored != nil {
			mark.charges, mark.restored = owed(mark.restored, mark.restored.Status.NominatedNodeName), nil
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
	for uid, mark := range e.byPod {
		if !mark.suspended && now.Before(mark.until) {
			kept = append(kept, waitlist.Mark{Pod: uid, Priority: mark.priority, Charges: mark.charges})
		}
	}
	slices.SortFunc(kept, func(a, b waitlist.Mark) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Pod, b.Pod))
	})
	return kept
}

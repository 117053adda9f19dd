// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/utils/clock"

	"berth.dev/berth/pkg/placement/pool"
)

// Earmarks keep what pods give back for the pod that they made way for: until it is bound, deleted or takes too long, no pod
// of the same or a lower priority gets it, on whatever node. It is safe for concurrent use.
type Earmarks struct {
	clock clock.PassiveClock

	mu    sync.Mutex
	byPod map[types.UID]*earmark
	// lapsed are the pods whose latest attempt failed after it had reserved what they ask for. The scheduler nominates pods
	// that wait for permission to their nodes, and does not always take that back.
	lapsed map[types.UID]bool
}

type earmark struct {
	priority int32
	charges  []pool.Charge
	until    time.Time
	// victims are the pods that make way. The pod can be tried again before the scheduler sees that they are terminating.
	victims map[types.UID]bool
	// evicting is set while the pods that make way are being deleted.
	evicting bool
	// restored is the pod if the process that made the earmark is gone, until it is worked out again what it keeps.
	restored *corev1.Pod
	// suspended is set while the pod itself is charged.
	suspended bool
}

// NewEarmarks returns an empty set.
func NewEarmarks(clock clock.PassiveClock) *Earmarks {
	return &Earmarks{clock: clock, byPod: map[types.UID]*earmark{}, lapsed: map[types.UID]bool{}}
}

// put keeps for a pod what it will be charged, while others are being deleted for it.
func (e *Earmarks) put(pod *corev1.Pod, plan *plan, until time.Time) {
	mark := &earmark{
		priority: corev1helpers.PodPriority(pod), charges: plan.charges, until: until, evicting: true, victims: map[types.UID]bool{},
	}
	for _, victim := range plan.victims {
		mark.victims[victim.UID] = true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.byPod[pod.UID] = mark
}

// dooms says whether a pod makes way for another one, whether or not its end has been seen to begin.
func (e *Earmarks) dooms(pod types.UID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, mark := range e.byPod {
		if mark.victims[pod] {
			return true
		}
	}
	return false
}

// Restore keeps again what another process may have kept for a pod: one that waits, was nominated to a node and asks for
// ClusterResources.
func (e *Earmarks) Restore(pod *corev1.Pod) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.byPod[pod.UID] = &earmark{priority: corev1helpers.PodPriority(pod), until: e.clock.Now().Add(earmarkTime), restored: pod}
}

// evicted says that the pods that make way have been deleted, or could not be.
func (e *Earmarks) evicted(pod types.UID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if mark := e.byPod[pod]; mark != nil {
		mark.evicting = false
	}
}

// lapse says that an attempt failed, or with false that the next one begins. A nomination counts in the latter case only.
func (e *Earmarks) lapse(pod types.UID, lapsed bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if lapsed {
		e.lapsed[pod] = true
	} else {
		delete(e.lapsed, pod)
	}
}

// nominated says whether nothing but a nomination tells what a pod will be charged.
func (e *Earmarks) nominated(pod types.UID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.byPod[pod] == nil && !e.lapsed[pod]
}

// suspend says whether the pod itself is charged at present.
func (e *Earmarks) suspend(pod types.UID, suspended bool) {
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
	delete(e.lapsed, pod)
}

// Has says whether something is kept for the pod.
func (e *Earmarks) Has(pod types.UID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.byPod[pod] != nil
}

// Evicting says whether pods are being deleted for the pod at present.
func (e *Earmarks) Evicting(pod types.UID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	mark := e.byPod[pod]
	return mark != nil && mark.evicting
}

// against returns what is kept for others and may not be given to the pod. What has been kept for too long is let go. Owed
// tells what a pod would be charged on a node.
func (e *Earmarks) against(
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

// Kept returns what is kept for each pod that is not charged itself.
func (e *Earmarks) Kept() map[types.UID][]pool.Charge {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.byPod) == 0 {
		return nil
	}
	now, kept := e.clock.Now(), make(map[types.UID][]pool.Charge, len(e.byPod))
	for uid, mark := range e.byPod {
		if !mark.suspended && now.Before(mark.until) {
			kept[uid] = mark.charges
		}
	}
	return kept
}

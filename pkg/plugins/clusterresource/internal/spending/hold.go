// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package spending

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/berth/pkg/model/demand"
	"berth.dev/berth/pkg/placement/pool"
)

// hold is which pods are not to be tried yet.
type hold struct {
	pods map[types.UID]heldBack
	// over is set once nobody is held any more.
	over bool
	// free is how much was free at the take-over of the pool of a ClusterResource that had most.
	free map[*pool.Resource]int64
	// served are the claimants for whom there is enough although late Bindings may take the rest.
	served map[*pool.Resource]served
}

// served are the claimants that so many units serve, in the order of the scheduler's queue.
type served struct {
	units int64
	pods  map[types.UID]bool
}

// heldBack is a pod that is not to be tried yet.
type heldBack struct {
	pod      *corev1.Pod
	requests []pool.Request
}

// Hold reports whether a pod is not to be tried yet, because late Bindings of others may take all
// that was free at the take-over of a ClusterResource that it asks for. Each attempt in vain writes
// to the pod, and a thousand of those keep the API server from what ends the wait. Once LetGo has
// been called nobody is held. Pools returns the pools of a ClusterResource, nil if they are not
// known.
func (l *LateUnits) Hold(pod *corev1.Pod, pools func(resource string) *pool.Resource) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hold.over || len(l.pods) == 0 {
		return false
	}
	requests, err := demand.Of(pod)
	h := heldBack{pod: pod, requests: requests}
	if err != nil || !l.holds(&h, pools) {
		return false
	}
	if l.hold.pods == nil {
		l.hold.pods = map[types.UID]heldBack{}
	}
	l.hold.pods[pod.UID] = h
	return true
}

// Freed returns the pods that Hold has held and that can be tried now, each once.
func (l *LateUnits) Freed(pools func(resource string) *pool.Resource) []*corev1.Pod {
	l.mu.Lock()
	defer l.mu.Unlock()
	var freed []*corev1.Pod
	for uid, h := range l.hold.pods {
		if !l.holds(&h, pools) {
			freed = append(freed, h.pod)
			delete(l.hold.pods, uid)
		}
	}
	return freed
}

// LetGo lets all pods be tried from now on, and returns those that were held.
func (l *LateUnits) LetGo() []*corev1.Pod {
	l.mu.Lock()
	defer l.mu.Unlock()
	freed := make([]*corev1.Pod, 0, len(l.hold.pods))
	for _, h := range l.hold.pods {
		freed = append(freed, h.pod)
	}
	l.hold = hold{over: true}
	return freed
}

func (l *LateUnits) holds(h *heldBack, pools func(resource string) *pool.Resource) bool {
	return slices.ContainsFunc(h.requests, func(request pool.Request) bool {
		r := pools(request.Resource)
		if r == nil {
			return false
		}
		claimed := l.claimed[request.Resource]
		for _, own := range l.pods[h.pod.UID].requests {
			if own.Resource == request.Resource {
				claimed = less(claimed, own)
			}
		}
		free := l.freeOf(r)
		left := free - min(free, pool.UnitsUp(l.takeable(request.Resource, claimed), r.Unit()))
		switch {
		case free <= 0:
			return false
		case left > 0 && l.most != nil && pool.UnitsUp(claimed, r.Unit()) >= free:
			return !l.servedBy(r, request.Resource, left)[h.pod.UID]
		default:
			return left == 0
		}
	})
}

// servedBy returns the claimants that some units of a ClusterResource serve. The others would be
// tried in vain.
func (l *LateUnits) servedBy(r *pool.Resource, resource string, units int64) map[types.UID]bool {
	if known, found := l.hold.served[r]; found && known.units == units {
		return known.pods
	}
	now := served{units: units, pods: map[types.UID]bool{}}
	for _, c := range slices.SortedFunc(maps.Values(l.pods), inQueue) {
		for _, request := range c.requests {
			if request.Resource != resource {
				continue
			}
			if units -= pool.UnitsUp(request.Quantity, r.Unit()); units >= 0 {
				now.pods[c.UID] = true
			}
		}
	}
	if l.hold.served == nil {
		l.hold.served = map[*pool.Resource]served{}
	}
	l.hold.served[r] = now
	return now.pods
}

// inQueue compares claimants as the scheduler's queue does.
func inQueue(a, b Claimant) int {
	return cmp.Or(cmp.Compare(b.priority, a.priority), a.created.Compare(b.created.Time), cmp.Compare(a.UID, b.UID))
}

// freeOf returns how much was free of the pool that had most.
func (l *LateUnits) freeOf(r *pool.Resource) int64 {
	free, known := l.hold.free[r]
	if !known {
		free = slices.Max(append(l.held.Free(r), 0))
		if l.hold.free == nil {
			l.hold.free = map[*pool.Resource]int64{}
		}
		l.hold.free[r] = free
	}
	return free
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"berth.dev/berth/pkg/placement/pool"
)

// Pending remembers what pods were charged until their stamp is seen in the scheduler's snapshot.
// Nothing in it is lost sight of because the scheduler forgets a pod: an entry counts until the pod
// is seen with its stamp, is gone, or is known not to have been bound. It is safe for concurrent
// use.
type Pending struct {
	mu    sync.Mutex
	byUID map[types.UID]pending
}

type pending struct {
	pod     PodRef
	charges []pool.Charge
	// unclear is set while nobody knows whether the pod was bound.
	unclear bool
}

// NewPending returns an empty set.
func NewPending() *Pending {
	return &Pending{byUID: map[types.UID]pending{}}
}

// Put remembers what the pod was charged.
func (p *Pending) Put(pod PodRef, charges []pool.Charge) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.byUID[pod.UID] = pending{pod: pod, charges: charges}
}

// Get returns what the pod was charged.
func (p *Pending) Get(pod types.UID) (charges []pool.Charge, found bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	entry, found := p.byUID[pod]
	return entry.charges, found
}

// Drop forgets the pod. It may be called for pods that were charged nothing.
func (p *Pending) Drop(pod types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.byUID, pod)
}

// Release forgets the pod unless the outcome of its binding is unclear, and reports whether it did.
func (p *Pending) Release(pod types.UID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byUID[pod].unclear {
		return false
	}
	delete(p.byUID, pod)
	return true
}

// MarkUnclear keeps the charges of a pod of which nobody knows whether it was bound, until Settle.
func (p *Pending) MarkUnclear(pod types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if entry, found := p.byUID[pod]; found {
		entry.unclear = true
		p.byUID[pod] = entry
	}
}

// Unclear reports whether nobody knows whether the pod was bound.
func (p *Pending) Unclear(pod types.UID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byUID[pod].unclear
}

// AllUnclear returns the pods of which nobody knows whether they were bound.
func (p *Pending) AllUnclear() []PodRef {
	p.mu.Lock()
	defer p.mu.Unlock()
	var refs []PodRef
	for _, entry := range p.byUID {
		if entry.unclear {
			refs = append(refs, entry.pod)
		}
	}
	return refs
}

// Settle reports whether a pod with an unclear outcome was bound.
func (p *Pending) Settle(pod types.UID, bound bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	entry, found := p.byUID[pod]
	switch {
	case !found:
	case bound:
		entry.unclear = false
		p.byUID[pod] = entry
	default:
		delete(p.byUID, pod)
	}
}

// Of returns what pods are charged out of the grant of a Scheduler, by UID.
func (p *Pending) Of(grantee string) map[types.UID][]pool.Charge {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := map[types.UID][]pool.Charge{}
	for uid, entry := range p.byUID {
		if len(entry.charges) > 0 && entry.charges[0].Grantee == grantee {
			of[uid] = entry.charges
		}
	}
	return of
}

// all returns what pods are charged, by UID.
func (p *Pending) all() map[types.UID]pending {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.byUID) == 0 {
		return nil
	}
	return maps.Clone(p.byUID)
}

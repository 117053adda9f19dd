// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"berth.dev/berth/pkg/placement/pool"
)

// Pending remembers what pods were charged until their stamp is seen in the scheduler's snapshot.
// Nothing in it is lost sight of because the scheduler forgets a pod: an entry counts until the pod
// is seen with its stamp, is gone, or is known not to have been bound. It is safe for concurrent
// use.
type Pending struct {
	mu    sync.RWMutex
	byUID map[types.UID]pending
}

type pending struct {
	pod     PodRef
	charges []pool.Charge
	// unseen is set while the informer does not know the pod as bound, though it is.
	unseen bool
}

// NewPending returns an empty set.
func NewPending() *Pending {
	return &Pending{byUID: map[types.UID]pending{}}
}

// Put remembers what the pod was charged.
func (p *Pending) Put(pod PodRef, charges []pool.Charge) {
	p.put(pending{pod: pod, charges: charges})
}

// Charge is Put, unless the pod is an unseen one. It reports whether that was done.
func (p *Pending) Charge(pod PodRef, charges []pool.Charge) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byUID[pod.UID].unseen {
		return false
	}
	p.byUID[pod.UID] = pending{pod: pod, charges: charges}
	return true
}

// Release takes back Charge, unless the pod has become an unseen one since. It returns what is
// given back.
func (p *Pending) Release(pod types.UID) []pool.Charge {
	p.mu.Lock()
	defer p.mu.Unlock()
	entry := p.byUID[pod]
	if entry.unseen {
		return nil
	}
	delete(p.byUID, pod)
	return entry.charges
}

// PutUnseen is Put for a pod that another process has bound and that the informer does not know as
// bound yet. It counts, though the informer may not know it at all, until Seen or Drop.
func (p *Pending) PutUnseen(pod PodRef, charges []pool.Charge) {
	p.put(pending{pod: pod, charges: charges, unseen: true})
}

func (p *Pending) put(entry pending) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.byUID[entry.pod.UID] = entry
}

// Get returns what the pod was charged.
func (p *Pending) Get(pod types.UID) (charges []pool.Charge, found bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	entry, found := p.byUID[pod]
	return entry.charges, found
}

// Drop forgets the pod. It may be called for pods that were charged nothing.
func (p *Pending) Drop(pod types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.byUID, pod)
}

// Seen notes that the informer knows the pod as bound.
func (p *Pending) Seen(pod types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if entry, found := p.byUID[pod]; found {
		entry.unseen = false
		p.byUID[pod] = entry
	}
}

// Unseen reports whether the pod was put as one that the informer does not know as bound.
func (p *Pending) Unseen(pod types.UID) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.byUID[pod].unseen
}

// AllUnseen returns the pods that were put as unseen, in no order.
func (p *Pending) AllUnseen() []PodRef {
	p.mu.RLock()
	defer p.mu.RUnlock()
	var refs []PodRef
	for _, entry := range p.byUID {
		if entry.unseen {
			refs = append(refs, entry.pod)
		}
	}
	return refs
}

// Of returns what pods are charged out of the grant of a Scheduler, by UID.
func (p *Pending) Of(grantee string) map[types.UID][]pool.Charge {
	p.mu.RLock()
	defer p.mu.RUnlock()
	of := map[types.UID][]pool.Charge{}
	for uid, entry := range p.byUID {
		if len(entry.charges) > 0 && entry.charges[0].Grantee == grantee {
			of[uid] = entry.charges
		}
	}
	return of
}

// appendTo appends what all pods are charged. The slice is the caller's to use again, so that
// nobody waits for one to be made.
func (p *Pending) appendTo(entries []pending) []pending {
	p.mu.RLock()
	defer p.mu.RUnlock()
	for _, entry := range p.byUID {
		entries = append(entries, entry)
	}
	return entries
}

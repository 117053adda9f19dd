// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ledger knows what pods hold of ClusterResources. Like the view, which drives it, it takes
// the scheduler's snapshot for the truth; what Reserve charged to pods that the snapshot shows
// without a stamp, or not at all, is counted as well.
package ledger

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/berth/pkg/model/charges"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/pool"
)

// Holder is a pod on a node that holds something of ClusterResources.
type Holder struct {
	// Pod as the snapshot shows it.
	Pod *corev1.Pod
	// Charges are what it holds.
	Charges []pool.Charge

	stray bool
	// times counts how often the pod has been held without being released: twice for a moment, when
	// the view finds it on a node that has come back before it drops it from the one that was gone.
	times int
}

// Ledger sums up what pods hold. It belongs to the scheduling cycle like the view: between two
// calls of Refresh, the methods that read may be called concurrently.
type Ledger struct {
	// Self is the Scheduler of this process, empty for none. It must not change within a scheduling
	// cycle.
	Self string

	pending   *Pending
	pods      PodGetter
	resources Resources
	pools     *charges.Pools
	account   *pool.Account
	holders   map[types.UID]*Holder
	strays    int
	// overlay is what the account holds beside what the holders with a stamp do.
	overlay []pool.Charge
	// entries are what was pending at the last Refresh.
	entries []pending
	// charged are the charges of strays.
	charged map[types.UID][]pool.Charge
}

// Resources are the ClusterResources that there are. Two of them are the same if they are equal.
type Resources interface {
	// Usable yields each ClusterResource whose pools can be used.
	Usable(yield func(*pool.Resource) bool)
}

// PodGetter finds pods as the informer knows them.
type PodGetter interface {
	// Pod returns the pod, or nil if it is gone.
	Pod(namespace, name string) *corev1.Pod
}

// New returns an empty ledger.
func New(pending *Pending, pods PodGetter) *Ledger {
	l := &Ledger{pending: pending, pods: pods}
	l.Reset()
	return l
}

// Reset forgets everything that was seen in the snapshot.
func (l *Ledger) Reset() {
	l.resources, l.pools, l.account = nil, charges.NewPools(), pool.NewAccount()
	l.holders, l.strays, l.overlay = map[types.UID]*Holder{}, 0, nil
}

// Concerns reports whether a pod that runs holds something.
func (l *Ledger) Concerns(pod *corev1.Pod) bool {
	return !workload.Finished(pod) && charges.Concerns(pod)
}

// SetNode adds a node, or its new state.
func (l *Ledger) SetNode(node *corev1.Node) {
	l.pools.SetNode(node)
}

// DropNode removes a node.
func (l *Ledger) DropNode(name string) {
	l.pools.DropNode(name)
}

// Add books a pod on a node. Of several states of a pod the last one counts. Terminating pods hold
// what they have until they are gone.
func (l *Ledger) Add(pod *corev1.Pod) {
	h := &Holder{Pod: pod, times: 1}
	if before := l.holders[pod.UID]; before != nil {
		h.times += before.times
		l.drop(before)
	}
	known, pinned := stamp.ChargesOf(pod)
	if pinned {
		// The truth has arrived where it counts.
		l.pending.Drop(pod.UID)
	} else {
		known, pinned = l.pending.Get(pod.UID)
	}
	h.Charges, h.stray = known, !pinned
	if h.stray {
		l.strays++
	}
	l.account.Add(h.Charges)
	l.holders[pod.UID] = h
}

// Release takes back Add.
func (l *Ledger) Release(pod *corev1.Pod) {
	h := l.holders[pod.UID]
	if h == nil {
		return
	}
	if h.times--; h.times == 0 {
		l.drop(h)
	}
}

func (l *Ledger) drop(h *Holder) {
	delete(l.holders, h.Pod.UID)
	if h.stray {
		l.strays--
		return
	}
	l.account.Remove(h.Charges)
}

// Refresh takes over another picture of the ClusterResources, and what has been charged since the
// last one. It must be called after the view has been refreshed.
func (l *Ledger) Refresh(resources Resources) {
	if resources != l.resources {
		l.resources = resources
		l.pools.Use(resources.Usable)
	}
	l.pools.Rank()
	l.account.Remove(l.overlay)
	l.overlay = l.overlay[:0]
	l.entries = l.pending.appendTo(l.entries[:0])
	for _, entry := range l.entries {
		if h := l.holders[entry.pod.UID]; (h == nil || h.stray) && !l.gone(entry) {
			l.overlay = append(l.overlay, entry.charges...)
		}
	}
	l.account.Add(l.overlay)
	l.charged = nil
	if l.strays > 0 {
		l.chargeStrays()
	}
}

// gone reports whether a pod that the snapshot does not show has been deleted or has finished. The
// informer knows that before the scheduler does, unless the pod has yet to come to it.
func (l *Ledger) gone(entry pending) bool {
	if entry.unseen {
		return false
	}
	pod := l.pods.Pod(entry.pod.Namespace, entry.pod.Name)
	return pod == nil || pod.UID != entry.pod.UID
}

// chargeStrays books the pods that somebody else placed.
func (l *Ledger) chargeStrays() {
	strays := make([]*corev1.Pod, 0, l.strays)
	for uid, h := range l.holders {
		if !h.stray {
			continue
		}
		if _, reserved := l.pending.Get(uid); reserved {
			h.Charges = nil // booked with what is pending
			continue
		}
		strays = append(strays, h.Pod)
	}
	l.charged = make(map[types.UID][]pool.Charge, len(strays))
	for _, held := range l.pools.ChargeStrays(l.account, strays) {
		l.holders[held.Pod.UID].Charges = held.Charges
		l.charged[held.Pod.UID] = held.Charges
		l.overlay = append(l.overlay, held.Charges...)
	}
}

// Places returns which pools of a resource select which node, nil if there is no such resource or
// its pools cannot be used.
func (l *Ledger) Places(resource string) *pool.Places {
	return l.pools.Places(resource)
}

// Free returns how many units are left in each pool of a resource that Places knows. The caller may
// change the result.
func (l *Ledger) Free(resource *pool.Resource) []int64 {
	return l.account.Free(resource)
}

// Own returns how many units of each pool of a resource were charged out of the grant of Self.
func (l *Ledger) Own(resource *pool.Resource) []int64 {
	pools := resource.Pools()
	own := make([]int64, len(pools))
	for i := range pools {
		own[i] = pool.UnitsUp(l.account.HeldOf(l.Self, resource.Name(), pools[i].Name), resource.Unit())
	}
	return own
}

// Strays returns what pods hold that somebody else placed. It must not be changed.
func (l *Ledger) Strays() map[types.UID][]pool.Charge {
	return l.charged
}

// Holder returns what a pod on a node holds, nil if nothing. It must not be changed.
func (l *Ledger) Holder(pod types.UID) *Holder {
	return l.holders[pod]
}

// Lingers reports whether a pod is on a node of which the informer does not know that it is there:
// it has gone already, or was not bound in the end. Of one that is bound after all, by another
// scheduler, it is false.
func (l *Ledger) Lingers(pod types.UID) bool {
	h := l.holders[pod]
	if h == nil {
		return false
	}
	now := l.pods.Pod(h.Pod.Namespace, h.Pod.Name)
	return now == nil || now.UID != pod || now.Spec.NodeName == ""
}

// Holders calls visit for each pod on a node that holds something.
func (l *Ledger) Holders(visit func(*Holder)) {
	for _, h := range l.holders {
		visit(h)
	}
}

// Owed returns what a pod would be charged on a node.
func (l *Ledger) Owed(pod *corev1.Pod, node string) []pool.Charge {
	return charges.Owed(pod, node, func(resource string) (*pool.Places, pool.Free) {
		places := l.Places(resource)
		if places == nil {
			return nil, nil
		}
		free := l.Free(places.Resource())
		return places, func(i int32) int64 { return free[i] }
	})
}

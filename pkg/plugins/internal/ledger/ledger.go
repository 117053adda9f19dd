// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ledger knows what pods hold of ClusterResources. Like the view, which drives it, it takes the scheduler's snapshot
// for the truth; what Reserve charged to pods that the snapshot shows without a stamp, or not at all, is counted as well.
package ledger

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/demand"
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
	// times counts how often the pod has been held without being released: twice for a moment, when the view finds it on a
	// node that has come back before it drops it from the one that was gone.
	times int
}

// Ledger sums up what pods hold. It belongs to the scheduling cycle like the view: between two calls of Refresh, the methods
// that read may be called concurrently.
type Ledger struct {
	// Self is the Scheduler of this process, empty for none. It must be set before the ledger is used.
	Self string

	pending   *Pending
	pods      PodLister
	resources Resources
	places    map[string]*pool.Places
	nodes     map[string]*corev1.Node
	account   *pool.Account
	// own is what of the account was charged out of the grant of Self.
	own     *pool.Account
	holders map[types.UID]*Holder
	strays  int
	// overlay is what the account holds beside what the holders with a stamp do.
	overlay []pool.Charge
	// foreign are the charges of pods that somebody else placed.
	foreign map[types.UID][]pool.Charge
}

// Resources are the ClusterResources that there are. Two of them are the same if they are equal.
type Resources interface {
	// Usable yields each ClusterResource whose pools can be used.
	Usable(yield func(*pool.Resource) bool)
}

// PodLister finds pods as the informer knows them.
type PodLister interface {
	// Pod returns the pod, or nil if it is gone.
	Pod(namespace, name string) *corev1.Pod
}

// New returns an empty ledger.
func New(pending *Pending, pods PodLister) *Ledger {
	l := &Ledger{pending: pending, pods: pods}
	l.Reset()
	return l
}

// Reset forgets everything that was seen in the snapshot.
func (l *Ledger) Reset() {
	l.resources, l.places, l.nodes = nil, map[string]*pool.Places{}, map[string]*corev1.Node{}
	l.account, l.own = pool.NewAccount(), pool.NewAccount()
	l.holders, l.strays, l.overlay = map[types.UID]*Holder{}, 0, nil
}

// Concerns says whether a pod that runs holds something.
func (l *Ledger) Concerns(pod *corev1.Pod) bool {
	if workload.Finished(pod) {
		return false
	}
	_, charged := pod.Annotations[berthv1alpha1.ChargedAnnotation]
	return charged || demand.Asks(pod)
}

// SetNode says that there is a node, or that it has changed.
func (l *Ledger) SetNode(node *corev1.Node) {
	l.nodes[node.Name] = node
	for _, p := range l.places {
		p.Set(node.Name, node.Labels)
	}
}

// DropNode says that a node is gone.
func (l *Ledger) DropNode(name string) {
	delete(l.nodes, name)
	for _, p := range l.places {
		p.Drop(name)
	}
}

// Hold books a pod on a node. Of several states of a pod the last one counts. Terminating pods hold what they have until they are gone.
func (l *Ledger) Hold(pod *corev1.Pod) {
	h := &Holder{Pod: pod, times: 1}
	if known := l.holders[pod.UID]; known != nil {
		h.times += known.times
		l.drop(known)
	}
	charges, pinned := stamp.ChargesOf(pod)
	if pinned {
		// The truth has arrived where it counts.
		l.pending.Drop(pod.UID)
	} else {
		charges, pinned = l.pending.Get(pod.UID)
	}
	h.Charges, h.stray = charges, !pinned
	if h.stray {
		l.strays++
	}
	l.add(h.Charges)
	l.holders[pod.UID] = h
}

// Release takes back Hold.
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
	l.remove(h.Charges)
}

func (l *Ledger) add(charges []pool.Charge) {
	l.account.Add(charges)
	l.own.Add(l.mine(charges))
}

func (l *Ledger) remove(charges []pool.Charge) {
	l.account.Remove(charges)
	l.own.Remove(l.mine(charges))
}

// mine returns the charges out of the grant of this process. Those of a pod are all of one grant, so mostly all or none are.
func (l *Ledger) mine(charges []pool.Charge) []pool.Charge {
	foreign := func(c pool.Charge) bool { return c.Grantee != l.Self }
	switch {
	case l.Self == "" || len(charges) == 0:
		return nil
	case !slices.ContainsFunc(charges, foreign):
		return charges
	default:
		return slices.DeleteFunc(slices.Clone(charges), foreign)
	}
}

// Refresh takes over another picture of the ClusterResources, and what has been charged since the last one. It must be called
// after the view has been refreshed.
func (l *Ledger) Refresh(resources Resources) {
	if resources != l.resources {
		l.resources = resources
		l.replace()
	}
	for _, p := range l.places {
		p.Rank()
	}
	l.remove(l.overlay)
	l.overlay = l.overlay[:0]
	for uid, entry := range l.pending.all() {
		if h := l.holders[uid]; (h == nil || h.stray) && !l.gone(entry) {
			l.overlay = append(l.overlay, entry.charges...)
		}
	}
	l.add(l.overlay)
	l.foreign = nil
	if l.strays > 0 {
		l.chargeStrays()
	}
}

// gone says whether a pod that the snapshot does not show has been deleted or has finished. The informer knows that before the
// scheduler does. A pod that it never knew may have been bound by another process.
func (l *Ledger) gone(entry pending) bool {
	if entry.unclear {
		return false
	}
	pod := l.pods.Pod(entry.pod.Namespace, entry.pod.Name)
	return pod == nil || pod.UID != entry.pod.UID
}

// replace makes the places of resources that are new or have changed.
func (l *Ledger) replace() {
	old := l.places
	l.places = map[string]*pool.Places{}
	l.resources.Usable(func(r *pool.Resource) bool {
		if known := old[r.Name()]; known != nil && known.Resource() == r {
			l.places[r.Name()] = known
			return true
		}
		p := pool.NewPlaces(r)
		for name, node := range l.nodes {
			p.Set(name, node.Labels)
		}
		l.places[r.Name()] = p
		return true
	})
}

// chargeStrays books the pods that somebody else placed, in the order of their creation.
func (l *Ledger) chargeStrays() {
	holders := make([]*Holder, 0, l.strays)
	for uid, h := range l.holders {
		if !h.stray {
			continue
		}
		if _, reserved := l.pending.Get(uid); reserved {
			h.Charges = nil // booked with what is pending
			continue
		}
		holders = append(holders, h)
	}
	slices.SortFunc(holders, func(a, b *Holder) int {
		return cmp.Or(a.Pod.CreationTimestamp.Compare(b.Pod.CreationTimestamp.Time), cmp.Compare(a.Pod.UID, b.Pod.UID))
	})
	strays := make([]pool.Stray, len(holders))
	l.foreign = make(map[types.UID][]pool.Charge, len(holders))
	for i, h := range holders {
		strays[i].Requests, _ = demand.Of(h.Pod)
		if node := l.nodes[h.Pod.Spec.NodeName]; node != nil {
			strays[i].Labels = node.Labels
		}
	}
	for i, charges := range l.account.ChargeStrays(strays, l.Places) {
		holders[i].Charges = charges
		l.foreign[holders[i].Pod.UID] = charges
		l.overlay = append(l.overlay, charges...)
	}
}

// Places returns which pools of a resource select which node, nil if there is no such resource or its pools cannot be used.
func (l *Ledger) Places(resource string) *pool.Places {
	return l.places[resource]
}

// Free returns how many units are left in each pool of a resource that Places knows. The caller may change the result.
func (l *Ledger) Free(resource *pool.Resource) []int64 {
	return l.account.Free(resource)
}

// Own returns how many units of each pool of a resource were charged out of the grant of Self.
func (l *Ledger) Own(resource *pool.Resource) []int64 {
	pools := resource.Pools()
	own := make([]int64, len(pools))
	for i := range pools {
		held, _ := l.own.Held(resource.Name(), pools[i].Name)
		own[i] = pool.UnitsUp(held, resource.Unit())
	}
	return own
}

// Strays returns what pods hold that somebody else placed. It must not be changed.
func (l *Ledger) Strays() map[types.UID][]pool.Charge {
	return l.foreign
}

// Holder returns what a pod on a node holds, nil if nothing. It must not be changed.
func (l *Ledger) Holder(pod types.UID) *Holder {
	return l.holders[pod]
}

// Holders calls visit for each pod on a node that holds something.
func (l *Ledger) Holders(visit func(*Holder)) {
	for _, h := range l.holders {
		visit(h)
	}
}

// Owed returns what a pod would be charged on a node.
func (l *Ledger) Owed(pod *corev1.Pod, node string) []pool.Charge {
	requests, err := demand.Of(pod)
	if err != nil {
		return nil
	}
	var charges []pool.Charge
	for _, request := range requests {
		if p := l.places[request.Resource]; p != nil {
			free := l.Free(p.Resource())
			charges = append(charges, p.Owed(node, request, func(i int32) int64 { return free[i] })...)
		}
	}
	return charges
}

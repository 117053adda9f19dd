// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"maps"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/plugins/internal/ledger"
)

// LateSeats knows the pods of each workload that the process before may still bind, and those that
// it has bound and that the scheduler may not know of. It is safe for concurrent use.
type LateSeats struct {
	// Pending is false once nothing of all that is left, so that nobody need ask.
	Pending atomic.Bool

	// Known reports whether the informer knows a pod of the list as bound. It must be set before the
	// list is read.
	Known func(*corev1.Pod) bool

	mu     sync.Mutex
	listed bool
	// fresh are the pods that the informer knows as bound. The scheduler learns that at the same
	// time, so the first scheduling cycle finds out whether it has.
	fresh     []*openPod
	workloads map[workload.Revision]*siblings
	open      map[types.UID]*openPod
	// turnedAway are the pods that were not placed because of others, until they are tried again.
	turnedAway map[types.UID]*turnedAway
	// all is true if every pod is to be settled, whether another one waits for that or not.
	all bool
	// due gets a token when there is something to settle.
	due chan struct{}
}

// siblings are the pods of a workload.
type siblings struct {
	// held is how many of them each node had according to the list.
	held map[string]int32
	open map[types.UID]*openPod
	// wanted is true if a pod waits until they are settled.
	wanted bool
}

// openPod is a pod of which it is not known what has become of it.
type openPod struct {
	ledger.PodRef

	revision workload.Revision
	// version is that of the pod in the list. Bindings that were sent before carry no newer one.
	version string
	// node is where it is bound, empty if a late Binding may still do that.
	node string
}

// turnedAway is a pod that waits for others to be settled.
type turnedAway struct {
	pod      *corev1.Pod
	revision workload.Revision
	woken    int
}

// NewLate returns what is known before the list has been read: nothing.
func NewLate() *LateSeats {
	l := &LateSeats{due: make(chan struct{}, 1)}
	l.Pending.Store(true)
	l.Begin()
	return l
}

// Skip stands for the list in a process that has no predecessor.
func (l *LateSeats) Skip() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listed = true
	l.Pending.Store(false)
}

// Begin forgets what an earlier list has shown.
func (l *LateSeats) Begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.workloads, l.open, l.fresh = map[workload.Revision]*siblings{}, map[types.UID]*openPod{}, nil
	if l.turnedAway == nil {
		l.turnedAway = map[types.UID]*turnedAway{}
	}
}

// revisionOf returns the revision of a pod whose policy need not be known. All pods of a namespace
// without a controller have the same one.
func revisionOf(pod *corev1.Pod) workload.Revision {
	if revision, owned := workload.RevisionOf(pod); owned {
		return revision
	}
	return workload.Revision{Namespace: pod.Namespace}
}

// Read takes over a pod of the list. One that has a node stays open until the scheduler knows that.
func (l *LateSeats) Read(pod *corev1.Pod, claimant bool) {
	bound := pod.Spec.NodeName != "" && workload.Lives(pod)
	if !claimant && !bound {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	o := &openPod{
		PodRef: ledger.Ref(pod), revision: revisionOf(pod), version: pod.ResourceVersion, node: pod.Spec.NodeName,
	}
	of := l.siblingsLocked(o.revision)
	switch {
	case !bound:
		of.open[o.UID], l.open[o.UID] = o, o
		return
	case l.Known(pod):
		l.fresh = append(l.fresh, o)
	default:
		of.open[o.UID], l.open[o.UID] = o, o
	}
	of.held[o.node]++
}

func (l *LateSeats) siblingsLocked(revision workload.Revision) *siblings {
	of := l.workloads[revision]
	if of == nil {
		of = &siblings{held: map[string]int32{}, open: map[types.UID]*openPod{}}
		l.workloads[revision] = of
	}
	return of
}

// End completes the list. Workloads all of whose pods the informer knows as bound are of no
// interest.
func (l *LateSeats) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listed = true
	maps.DeleteFunc(l.workloads, func(_ workload.Revision, of *siblings) bool { return len(of.open) == 0 })
	l.finishLocked()
}

// Changed notes a newer state of a pod.
func (l *LateSeats) Changed(pod *corev1.Pod) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.open[pod.UID]
	switch {
	case o == nil:
	case !workload.Lives(pod):
		l.closeLocked(o)
	case pod.Spec.NodeName != "":
		o.node = pod.Spec.NodeName
	case o.node == "" && newer(pod.ResourceVersion, o.version):
		l.closeLocked(o)
	}
}

func newer(version, than string) bool {
	order, err := resourceversion.CompareResourceVersion(version, than)
	return err == nil && order > 0
}

// Gone notes that a pod is gone.
func (l *LateSeats) Gone(pod types.UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o := l.open[pod]; o != nil {
		l.closeLocked(o)
	}
	delete(l.turnedAway, pod)
	l.finishLocked()
}

func (l *LateSeats) closeLocked(o *openPod) {
	delete(l.open, o.UID)
	of := l.workloads[o.revision]
	if of == nil {
		return
	}
	if delete(of.open, o.UID); len(of.open) == 0 {
		delete(l.workloads, o.revision)
	}
}

// finishLocked notes whether anything is left.
func (l *LateSeats) finishLocked() {
	if l.listed && len(l.open)+len(l.fresh)+len(l.turnedAway) == 0 {
		l.Pending.Store(false)
	}
}

// Rest is what is left to be known of a workload.
type Rest struct {
	// Listed is false while the list has not been read.
	Listed bool
	// Claimants is how many of its other pods may still be bound, and Missing how many have been
	// bound that the scheduler does not know of.
	Claimants, Missing int
	// Held is how many of its pods each node had according to the list. It must not be changed.
	Held map[string]int32
}

// Rest returns what is left to be known of the other pods of a pod's workload. Has reports whether
// the snapshot of the present scheduling cycle shows a pod on a node; the seats of these count.
func (l *LateSeats) Rest(pod *corev1.Pod, has func(pod ledger.PodRef, node string) bool) Rest {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweepLocked(has)
	rest := Rest{Listed: l.listed}
	of := l.workloads[revisionOf(pod)]
	if of == nil {
		return rest
	}
	rest.Held = of.held
	for uid, o := range of.open {
		switch {
		case o.node != "" && has(o.PodRef, o.node):
			l.closeLocked(o)
		case uid == pod.UID:
		case o.node != "":
			rest.Missing++
		default:
			rest.Claimants++
		}
	}
	return rest
}

// sweepLocked finds out which of the pods that the informer knows as bound the scheduler knows.
func (l *LateSeats) sweepLocked(has func(pod ledger.PodRef, node string) bool) {
	if !l.listed {
		return
	}
	for _, o := range l.fresh {
		if !has(o.PodRef, o.node) {
			l.siblingsLocked(o.revision).open[o.UID], l.open[o.UID] = o, o
		}
	}
	l.fresh = nil
}

// TurnAway notes that a pod is not placed because of its siblings. These are settled now.
func (l *LateSeats) TurnAway(pod *corev1.Pod) {
	l.mu.Lock()
	defer l.mu.Unlock()
	revision := revisionOf(pod)
	if l.turnedAway[pod.UID] == nil {
		l.turnedAway[pod.UID] = &turnedAway{pod: pod, revision: revision}
	}
	if of := l.workloads[revision]; of != nil {
		of.wanted = true
	}
	l.hurry()
}

// Passed notes that nothing is left that keeps a pod from being placed.
func (l *LateSeats) Passed(pod types.UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.turnedAway, pod)
	l.finishLocked()
}

// Over reports whether it is certain that no pod at all will be bound by a late Binding. If it is
// not, all pods are settled from now on.
func (l *LateSeats) Over() bool {
	if !l.Pending.Load() {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.listed {
		return false
	}
	if l.noClaimantsLocked() {
		return true
	}
	l.all = true
	l.hurry()
	return false
}

// hurry lets the pods be settled now.
func (l *LateSeats) hurry() {
	select {
	case l.due <- struct{}{}:
	default:
	}
}

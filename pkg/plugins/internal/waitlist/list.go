// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package waitlist

import (
	"context"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"berth.dev/berth/pkg/model/workload"
)

// Sight tells what a scheduling cycle of a pod saw of the place that another pod gave up.
type Sight struct {
	// Seen reports whether the place was free in that cycle, or is of no concern any longer.
	Seen bool
	// Cluster is where the place is, and Free how many places for pods of the line the cycle leaves
	// free there.
	Cluster int32
	Free    int
}

// See judges the place that a pod gave up. It is called with the List locked.
type See func(freed *corev1.Pod) Sight

// List knows which pods wait in which line for one of them to give up its place. The pods of a line
// are those of one revision; each can take the place of any other. It is safe for concurrent use.
type List struct {
	clock clock.WithTicker

	mu     sync.Mutex
	calls  calls
	pods   map[types.UID]*waiter
	lines  map[workload.Revision][]*waiter
	places Recent[*place]
	// open are the places that nobody waited for when they became free. A pod whose scheduling cycle
	// began before may be rejected all the same.
	open []*place
}

// waiter is a pod that has been tried and found no place.
type waiter struct {
	attempt

	pod  *corev1.Pod
	line workload.Revision
	// place is the one that it was offered, nil while it is asleep.
	place *place
	// stuck is set if the pod was not tried the last time it was woken. Others come before it.
	stuck bool
}

// place is one that a pod gave up.
type place struct {
	freed *corev1.Pod
	line  workload.Revision
	// refused are the pods that it was given to and that did not take it. Each is asked once.
	refused map[types.UID]bool
	// open is set if nobody waited for it.
	open bool
}

// New returns an empty list.
func New(clock clock.WithTicker) *List {
	return &List{
		clock: clock, calls: newCalls(), pods: map[types.UID]*waiter{}, lines: map[workload.Revision][]*waiter{},
	}
}

// Run wakes the pods that are chosen, until the context ends. Held reports whether a plugin would
// keep a pod out of the queue if it were woken.
func (l *List) Run(ctx context.Context, wake func([]*corev1.Pod), held func(*corev1.Pod) bool) {
	run(ctx, l, l.calls.rung, l.clock, wake, held)
}

// WokenBy reports whether a place that another pod of the line gave up is a reason to try a waiting
// one: for the pod that it is given to, and for pods that are not in the list. The place is given
// away when the first pod is asked about.
func (l *List) WokenBy(pod, freed *corev1.Pod, line workload.Revision) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.offerOnce(freed, line)
	w := l.pods[pod.UID]
	if w == nil || w.line != line {
		return true
	}
	if p.open && w.place == nil && !p.refused[pod.UID] {
		// It was in a scheduling cycle, and not in the list yet.
		l.assign(p, w)
	}
	return w.place == p
}

// offerOnce returns the place that a pod gave up, and offers it if it is a new one.
func (l *List) offerOnce(freed *corev1.Pod, line workload.Revision) *place {
	if p, known := l.places.Get(freed); known {
		return p
	}
	p := &place{freed: freed, line: line}
	l.places.Put(freed, p)
	l.offer(p)
	return p
}

// Rejected says that a pod was tried and found no place. If it had been given one, then that is
// passed on in case others may do with it.
func (l *List) Rejected(pod *corev1.Pod, line workload.Revision, see See) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.pods[pod.UID]
	if w != nil && w.line != line {
		l.leave(w)
		w = nil
	}
	if w == nil {
		w = &waiter{line: line, pod: pod}
		l.insert(w)
	}
	w.pod, w.stuck, w.again, w.told = pod, false, false, true
	if p := w.place; p != nil {
		// A place that became free after the cycle had begun is still the pod's: the queue tries it
		// again.
		if sight := see(p.freed); sight.Seen {
			w.yield()
			if sight.Free > 0 {
				p.refuse(pod.UID)
				l.offer(p)
			}
		}
	}
	l.missed(w, see)
}

// missed gives a pod that was rejected a place for which nobody waited then, and which its cycle
// did not see. Whoever is tried from now on sees them all.
func (l *List) missed(w *waiter, see See) {
	for _, p := range l.open {
		if p.open && p.line == w.line && w.place == nil && !p.refused[w.pod.UID] && !see(p.freed).Seen {
			l.assign(p, w)
			l.call(w)
		}
	}
	l.open = nil
}

// Placed says that a pod found a place. If that is not the one it was woken for, then another pod
// is woken for that one.
func (l *List) Placed(pod types.UID, see See) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = nil
	w := l.pods[pod]
	if w == nil {
		return
	}
	l.remove(w)
	if p := w.place; p != nil {
		if sight := see(p.freed); !sight.Seen || sight.Free > l.expected(w.line, sight.Cluster, see) {
			l.offer(&place{freed: p.freed, line: w.line})
		}
	}
}

// Unplaced says that a pod of the line lost the place that it had found. The queue hears of that
// only if the pod has not been bound to another node by somebody else; if it does, nothing is
// offered twice.
func (l *List) Unplaced(pod *corev1.Pod, line workload.Revision) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.offerOnce(pod, line)
}

// Again notes that a pod found no place in an attempt that looked at some nodes, and is about to be
// tried on all.
func (l *List) Again(pod types.UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.pods[pod]; w != nil {
		w.again = true
	}
}

// Ended notes that an attempt to schedule a pod has failed, for whatever reason. If that was not
// said by Rejected, the pod was rejected elsewhere, and the place that it was given is passed on.
func (l *List) Ended(pod types.UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.pods[pod]; w != nil && w.ended(l.clock.Now()) {
		l.passOn(w)
	}
}

// keepOut passes on the place of a pod that is kept out of the queue.
func (l *List) keepOut(pod types.UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.pods[pod]; w != nil && w.over(l.clock.Now()) {
		l.passOn(w)
	}
}

// Drop forgets a pod that has been bound or does not wait for a place any longer, and passes on one
// that it was given and did not take.
func (l *List) Drop(pod types.UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.pods[pod]; w != nil {
		l.leave(w)
	}
}

// leave removes a pod and passes on its place.
func (l *List) leave(w *waiter) {
	l.remove(w)
	if w.place != nil {
		l.offer(w.place)
	}
}

// passOn takes its place from a pod that has no use for it, and offers it to the next one.
func (l *List) passOn(w *waiter) {
	p := w.yield()
	p.refuse(w.pod.UID)
	l.offer(p)
}

// lapse passes on the places of pods of which nothing has been heard. They are woken once more
// themselves: one that was in a scheduling cycle may have been told nothing.
func (l *List) lapse() {
	l.mu.Lock()
	defer l.mu.Unlock()
	var late []*waiter
	for _, w := range l.pods {
		if w.overdue(l.clock.Now()) {
			late = append(late, w)
		}
	}
	slices.SortFunc(late, compare)
	for _, w := range late {
		lapsedOffers.Inc()
		w.stuck = true
		l.passOn(w)
		l.call(w)
	}
}

func (l *List) takeChosen() []*corev1.Pod {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls.take()
}

// offer gives a place to the first pod of the line that sleeps and has not refused it, and wakes
// that pod.
func (l *List) offer(p *place) {
	var chosen *waiter
	for _, w := range l.lines[p.line] {
		if w.place != nil || p.refused[w.pod.UID] || chosen != nil && w.stuck {
			continue
		}
		if chosen = w; !w.stuck {
			break
		}
	}
	if p.open = chosen == nil; p.open {
		l.open = append(l.open, p)
		if surplus := len(l.open) - remembered; surplus > 0 {
			l.open = slices.Delete(l.open, 0, surplus)
		}
		return
	}
	l.assign(p, chosen)
	l.call(chosen)
}

func (l *List) call(w *waiter) {
	l.calls.add(w.pod)
	l.calls.ring()
}

func (l *List) assign(p *place, w *waiter) {
	w.place, p.open = p, false
	w.offer(l.clock.Now())
}

// yield takes its place from a pod.
func (w *waiter) yield() *place {
	p := w.place
	w.place = nil
	w.sleep()
	return p
}

func (p *place) refuse(pod types.UID) {
	if p.refused == nil {
		p.refused = map[types.UID]bool{}
	}
	p.refused[pod] = true
}

// expected is how many pods of a line have been woken for places that a cycle saw in a cluster.
func (l *List) expected(line workload.Revision, cluster int32, see See) int {
	n := 0
	for _, w := range l.lines[line] {
		if w.place != nil {
			if sight := see(w.place.freed); sight.Seen && sight.Cluster == cluster {
				n++
			}
		}
	}
	return n
}

func compare(a, b *waiter) int {
	return comparePods(a.pod, b.pod)
}

func (l *List) insert(w *waiter) {
	l.pods[w.pod.UID] = w
	line := l.lines[w.line]
	at, _ := slices.BinarySearchFunc(line, w, compare)
	l.lines[w.line] = slices.Insert(line, at, w)
}

func (l *List) remove(w *waiter) {
	delete(l.pods, w.pod.UID)
	l.calls.drop(w.pod.UID)
	line := slices.DeleteFunc(l.lines[w.line], func(other *waiter) bool { return other == w })
	if l.lines[w.line] = line; len(line) == 0 {
		delete(l.lines, w.line)
	}
}

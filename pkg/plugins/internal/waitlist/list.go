// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package waitlist

import (
	"context"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"berth.dev/berth/pkg/model/workload"
)

const (
	// PlaceTimeout is after what time a place is passed on that was given to a pod which has not
	// been tried since.
	PlaceTimeout = 2 * time.Second

	lookInterval = time.Second
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
	wake  func([]*corev1.Pod)

	mu     sync.Mutex
	pods   map[types.UID]*waiter
	lines  map[workload.Revision][]*waiter
	taken  map[types.UID]*waiter // those that found a place after having been given one, and are not bound yet
	places Recent[*place]
}

// waiter is a pod that has been tried and found no place.
type waiter struct {
	pod  *corev1.Pod
	line workload.Revision
	// place is the one that the pod was woken for, nil while it sleeps; since when it has it.
	place *place
	since time.Time
	// stuck is set if the pod was not tried the last time it was woken. Others come before it.
	stuck bool
}

// place is one that a pod gave up.
type place struct {
	freed *corev1.Pod
	// refused are the pods that it was given to and that did not take it. Each is asked once.
	refused map[types.UID]bool
	// open is set if nobody waited for it.
	open bool
}

// New returns an empty list. Wake lets pods be tried; it is never called with the List locked.
func New(clock clock.WithTicker, wake func([]*corev1.Pod)) *List {
	return &List{
		clock: clock, wake: wake, pods: map[types.UID]*waiter{}, lines: map[workload.Revision][]*waiter{},
		taken: map[types.UID]*waiter{},
	}
}

// WokenBy reports whether a place that another pod of the line gave up is a reason to try a waiting
// one: for the pod that it is given to, and for pods that are not in the list. The place is given
// away when the first pod is asked about.
func (l *List) WokenBy(pod, freed *corev1.Pod, line workload.Revision) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	p, _ := l.offerOnce(freed, line)
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

// offerOnce returns the place that a pod gave up, and whom to wake for it if it is a new one.
func (l *List) offerOnce(freed *corev1.Pod, line workload.Revision) (*place, []*corev1.Pod) {
	if p, known := l.places.Get(freed); known {
		return p, nil
	}
	p := &place{freed: freed}
	l.places.Put(freed, p)
	return p, l.offer(p, line)
}

// Rejected says that a pod was tried and found no place. If it had been given one, then that is
// passed on in case others may do with it.
func (l *List) Rejected(pod *corev1.Pod, line workload.Revision, see See) {
	l.mu.Lock()
	var next []*corev1.Pod
	w := l.pods[pod.UID]
	if w != nil && w.line != line {
		next = l.leave(w)
		w = nil
	}
	if w == nil {
		w = &waiter{line: line, pod: pod}
		l.insert(w)
	}
	w.pod, w.stuck = pod, false
	if p := w.place; p != nil {
		// A place that became free after the cycle had begun is still the pod's: the queue tries it
		// again.
		if sight := see(p.freed); sight.Seen {
			w.place = nil
			if sight.Free > 0 {
				p.refuse(pod.UID)
				next = append(next, l.offer(p, line)...)
			}
		}
	}
	l.mu.Unlock()
	l.wakeAll(next)
}

// Placed says that a pod found a place. If that is not the one it was woken for, then another pod
// is woken for that one.
func (l *List) Placed(pod types.UID, see See) {
	l.mu.Lock()
	w := l.pods[pod]
	if w == nil {
		l.mu.Unlock()
		return
	}
	l.remove(w)
	var next []*corev1.Pod
	if p := w.place; p != nil {
		l.taken[pod] = w
		if sight := see(p.freed); !sight.Seen || sight.Free > l.expected(w.line, sight.Cluster, see) {
			next = l.offer(&place{freed: p.freed}, w.line)
		}
	}
	l.mu.Unlock()
	l.wakeAll(next)
}

// Unplaced says that a pod of the line lost the place that it had found. The queue hears of that
// only if the pod has not been bound to another node by somebody else; if it does, nothing is
// offered twice.
func (l *List) Unplaced(pod *corev1.Pod, line workload.Revision) {
	l.mu.Lock()
	delete(l.taken, pod.UID)
	_, next := l.offerOnce(pod, line)
	l.mu.Unlock()
	l.wakeAll(next)
}

// Drop forgets a pod that has been bound or does not wait for a place any longer, and passes on one
// that it was given and did not take.
func (l *List) Drop(pod types.UID) {
	l.mu.Lock()
	delete(l.taken, pod)
	var next []*corev1.Pod
	if w := l.pods[pod]; w != nil {
		next = l.leave(w)
	}
	l.mu.Unlock()
	l.wakeAll(next)
}

// leave removes a pod and passes on its place.
func (l *List) leave(w *waiter) (next []*corev1.Pod) {
	l.remove(w)
	if w.place == nil {
		return nil
	}
	return l.offer(w.place, w.line)
}

// Run passes on what is not taken in time, until the context ends.
func (l *List) Run(ctx context.Context) {
	tick := l.clock.NewTicker(lookInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C():
			l.passOn()
		}
	}
}

// passOn passes on the places of pods that have not been tried within PlaceTimeout. They are woken
// once more themselves: one that was in a scheduling cycle may have been told nothing.
func (l *List) passOn() {
	l.mu.Lock()
	var late []*waiter
	for _, w := range l.pods {
		if w.place != nil && l.clock.Since(w.since) >= PlaceTimeout {
			late = append(late, w)
		}
	}
	var next []*corev1.Pod
	for _, w := range late {
		p := w.place
		p.refuse(w.pod.UID)
		w.place, w.stuck = nil, true
		next = append(append(next, w.pod), l.offer(p, w.line)...)
	}
	l.mu.Unlock()
	l.wakeAll(next)
}

func (l *List) wakeAll(pods []*corev1.Pod) {
	if len(pods) > 0 {
		l.wake(pods)
	}
}

// offer gives a place to the first pod of the line that sleeps, and returns whom to wake: that pod,
// or nobody.
func (l *List) offer(p *place, line workload.Revision) []*corev1.Pod {
	var chosen *waiter
	for _, w := range l.lines[line] {
		if w.place != nil || p.refused[w.pod.UID] || chosen != nil && w.stuck {
			continue
		}
		if chosen = w; !w.stuck {
			break
		}
	}
	p.open = chosen == nil
	if chosen == nil {
		return nil
	}
	l.assign(p, chosen)
	return []*corev1.Pod{chosen.pod}
}

func (l *List) assign(p *place, w *waiter) {
	w.place, w.since, p.open = p, l.clock.Now(), false
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
	line := slices.DeleteFunc(l.lines[w.line], func(other *waiter) bool { return other == w })
	if l.lines[w.line] = line; len(line) == 0 {
		delete(l.lines, w.line)
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package waitlist

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/pkg/model/workload"
)

// remembered is how many events are remembered, for pods that are in a scheduling cycle while they
// happen.
const remembered = 512

// Recent keeps what was decided on the latest events, by the pod that the event is about. The queue
// asks about one event for each pod that waits, with the same pointer each time, and again for a
// pod that was in a scheduling cycle meanwhile. The zero value is ready for use. It is not safe for
// concurrent use.
type Recent[T any] struct {
	decided map[*corev1.Pod]T
	ring    []*corev1.Pod
	next    int
}

// Get returns what was decided on an event.
func (r *Recent[T]) Get(event *corev1.Pod) (decision T, found bool) {
	decision, found = r.decided[event]
	return decision, found
}

// Put remembers what was decided on an event, in place of the oldest.
func (r *Recent[T]) Put(event *corev1.Pod, decision T) {
	if r.decided == nil {
		r.decided, r.ring = make(map[*corev1.Pod]T, remembered), make([]*corev1.Pod, remembered)
	}
	delete(r.decided, r.ring[r.next])
	r.decided[event], r.ring[r.next] = decision, event
	r.next = (r.next + 1) % remembered
}

// comparePods puts pods in the order of the queue: the higher priority first, then the older.
func comparePods(a, b *corev1.Pod) int {
	return cmp.Or(workload.CompareQueued(a, b), cmp.Compare(a.UID, b.UID))
}

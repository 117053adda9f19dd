// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package waitlist

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// lapseInterval is how often it is checked whether offers have lapsed. Nothing else waits for it.
const lapseInterval = 250 * time.Millisecond

// calls are the pods that are chosen and not woken yet. Whoever has them guards them by a lock.
type calls struct {
	pods map[types.UID]*corev1.Pod
	// rung has room for one signal that there are some.
	rung chan struct{}
}

func newCalls() calls {
	return calls{pods: map[types.UID]*corev1.Pod{}, rung: make(chan struct{}, 1)}
}

// add chooses a pod. Somebody must ring.
func (c *calls) add(pod *corev1.Pod) {
	c.pods[pod.UID] = pod
}

// drop takes back that a pod was chosen.
func (c *calls) drop(pod types.UID) {
	delete(c.pods, pod)
}

// ring lets run know that pods are to be woken.
func (c *calls) ring() {
	if len(c.pods) > 0 {
		c.signal()
	}
}

// signal lets run look whether pods are to be woken.
func (c *calls) signal() {
	select {
	case c.rung <- struct{}{}:
	default:
	}
}

// take returns the pods that are to be woken and have not been returned before, in order.
func (c *calls) take() []*corev1.Pod {
	chosen := make([]*corev1.Pod, 0, len(c.pods))
	for _, pod := range c.pods {
		chosen = append(chosen, pod)
	}
	clear(c.pods)
	slices.SortFunc(chosen, comparePods)
	return chosen
}

// line is what chooses pods.
type line interface {
	// lapse offers to others what was offered to pods that have not been heard of for OfferTimeout.
	lapse()
	// takeChosen returns the pods that are to be woken and have not been returned before.
	takeChosen() []*corev1.Pod
	// keepOut notes that a pod which was chosen is kept out of the queue.
	keepOut(pod types.UID)
}

// run wakes the pods that are chosen, until the context ends. Held reports whether a plugin would
// keep a pod out of the queue if it were woken.
func run(
	ctx context.Context, l line, rung <-chan struct{}, clock clock.WithTicker, wake func([]*corev1.Pod),
	held func(*corev1.Pod) bool,
) {
	tick := clock.NewTicker(lapseInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-rung:
		case <-tick.C():
			l.lapse()
		}
		for chosen := l.takeChosen(); len(chosen) > 0; chosen = l.takeChosen() {
			chosen = slices.DeleteFunc(chosen, func(pod *corev1.Pod) bool {
				if !held(pod) {
					return false
				}
				l.keepOut(pod.UID)
				return true
			})
			if len(chosen) > 0 {
				wake(chosen)
			}
		}
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fairqueue makes work queues of controllers that take one object of each namespace after
// the other: however many objects of one namespace wait, those of another do not wait longer for
// them than for one.
package fairqueue

import (
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// New returns a queue for a controller of objects of namespaces. It serves as NewQueue of the
// options of a controller.
func New(
	name string, limiter workqueue.TypedRateLimiter[reconcile.Request],
) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	ready := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[reconcile.Request]{Name: name, Queue: newTurns()})
	delayed := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[reconcile.Request]{Name: name, Queue: ready})
	return workqueue.NewTypedRateLimitingQueueWithConfig(limiter,
		workqueue.TypedRateLimitingQueueConfig[reconcile.Request]{Name: name, DelayingQueue: delayed})
}

// turns holds requests and gives each namespace its turn.
type turns struct {
	// waiting are the requests of each namespace that has any, first in first out.
	waiting map[string][]reconcile.Request
	// order are these namespaces, the one whose turn it is first.
	order []string
	count int
}

var _ workqueue.Queue[reconcile.Request] = &turns{}

func newTurns() *turns { return &turns{waiting: map[string][]reconcile.Request{}} }

// Touch does nothing: a request that waits keeps its place.
func (t *turns) Touch(reconcile.Request) {}

// Push adds a request.
func (t *turns) Push(item reconcile.Request) {
	if len(t.waiting[item.Namespace]) == 0 {
		t.order = append(t.order, item.Namespace)
	}
	t.waiting[item.Namespace] = append(t.waiting[item.Namespace], item)
	t.count++
}

// Len returns how many requests wait.
func (t *turns) Len() int { return t.count }

// Pop takes the oldest request of the namespace whose turn it is, which then is the last one.
func (t *turns) Pop() reconcile.Request {
	namespace := t.order[0]
	t.order = t.order[1:]
	item := t.waiting[namespace][0]
	if rest := t.waiting[namespace][1:]; len(rest) > 0 {
		t.waiting[namespace] = rest
		t.order = append(t.order, namespace)
	} else {
		delete(t.waiting, namespace)
	}
	t.count--
	return item
}

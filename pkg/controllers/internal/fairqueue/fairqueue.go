// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fairqueue makes work queues of controllers that take one object of each namespace after
// the other: however many objects of one namespace wait, those of another do not wait longer for
// them than for one. It also says how many of a namespace are written in a second.
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
	ready := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[reconcile.Request]{Name: name, Queue: &queue{}})
	delayed := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[reconcile.Request]{Name: name, Queue: ready})
	return workqueue.NewTypedRateLimitingQueueWithConfig(limiter,
		workqueue.TypedRateLimitingQueueConfig[reconcile.Request]{Name: name, DelayingQueue: delayed})
}

// queue holds the requests for a work queue.
type queue struct{ Turns[reconcile.Request] }

var _ workqueue.Queue[reconcile.Request] = &queue{}

// Touch does nothing: a request that waits keeps its place.
func (q *queue) Touch(reconcile.Request) {}

// Push adds a request.
func (q *queue) Push(item reconcile.Request) { q.Add(item.Namespace, item) }

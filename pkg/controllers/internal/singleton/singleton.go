// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package singleton is for controllers each of whose passes looks at everything there is, because a
// change of one object may concern all the others. There is one key, and a burst of events makes
// one pass.
package singleton

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// Key is the only key.
type Key struct{}

type queue = workqueue.TypedRateLimitingInterface[Key]

// After asks for a pass after a pause. Before that it calls the notes, which take down that
// something has changed. They must not block.
func After[T client.Object](pause time.Duration, notes ...func()) handler.TypedEventHandler[T, Key] {
	return AfterIf[T](pause, func() bool { return true }, notes...)
}

// AfterIf is After for events that need a pass only at times: needed is asked after the notes.
func AfterIf[T client.Object](pause time.Duration, needed func() bool, notes ...func()) handler.TypedEventHandler[T, Key] {
	ask := func(q queue) {
		for _, note := range notes {
			note()
		}
		if needed() {
			q.AddAfter(Key{}, pause)
		}
	}
	return handler.TypedFuncs[T, Key]{
		CreateFunc:  func(_ context.Context, _ event.TypedCreateEvent[T], q queue) { ask(q) },
		UpdateFunc:  func(_ context.Context, _ event.TypedUpdateEvent[T], q queue) { ask(q) },
		DeleteFunc:  func(_ context.Context, _ event.TypedDeleteEvent[T], q queue) { ask(q) },
		GenericFunc: func(_ context.Context, _ event.TypedGenericEvent[T], q queue) { ask(q) },
	}
}

// Changes lets updates pass that matter, and everything that comes or goes.
func Changes[T any](matters func(before, after T) bool) predicate.TypedPredicate[T] {
	return predicate.TypedFuncs[T]{
		UpdateFunc: func(e event.TypedUpdateEvent[T]) bool { return matters(e.ObjectOld, e.ObjectNew) },
	}
}

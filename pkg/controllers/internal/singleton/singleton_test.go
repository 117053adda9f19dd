// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package singleton_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"berth.dev/berth/pkg/controllers/internal/singleton"
)

func TestEventsMakeOnePass(t *testing.T) {
	for name, tc := range map[string]struct {
		needed             bool
		wantLen, wantNotes int
	}{
		"a pass is needed": {needed: true, wantLen: 1, wantNotes: 4},
		"none is":          {needed: false, wantLen: 0, wantNotes: 4},
	} {
		t.Run(name, func(t *testing.T) {
			notes := 0
			on := singleton.AfterIf[*corev1.Node](0, func() bool { return tc.needed }, func() { notes++ })
			if got := passes(t, on); got != tc.wantLen || notes != tc.wantNotes {
				t.Errorf("%d passes and %d notes, want %d and %d", got, notes, tc.wantLen, tc.wantNotes)
			}
		})
	}
	if got := passes(t, singleton.After[*corev1.Node](0)); got != 1 {
		t.Errorf("%d passes, want 1", got)
	}
}

// passes returns how many passes follow from one event of each sort.
func passes(t *testing.T, on handler.TypedEventHandler[*corev1.Node, singleton.Key]) int {
	t.Helper()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[singleton.Key]())
	t.Cleanup(queue.ShutDown)
	ctx, node := t.Context(), &corev1.Node{}
	on.Create(ctx, event.TypedCreateEvent[*corev1.Node]{Object: node}, queue)
	on.Update(ctx, event.TypedUpdateEvent[*corev1.Node]{ObjectOld: node, ObjectNew: node}, queue)
	on.Delete(ctx, event.TypedDeleteEvent[*corev1.Node]{Object: node}, queue)
	on.Generic(ctx, event.TypedGenericEvent[*corev1.Node]{Object: node}, queue)
	return queue.Len()
}

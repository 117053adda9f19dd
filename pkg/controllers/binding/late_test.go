// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/internal/singleton"
	"berth.dev/berth/pkg/controllers/state"
)

// refuse lets the pod theirs not be changed for as long as down is true.
func (h *harness) refuse(down *bool) {
	h.Helper()
	watching, ok := h.api.(client.WithWatch)
	if !ok {
		h.Fatal("the client cannot watch")
	}
	h.Leases = state.NewLeases(h.api, interceptor.NewClient(watching, interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
			if o.GetName() == "theirs" && *down {
				return errors.New("unreachable")
			}
			return c.Patch(ctx, o, patch, opts...)
		},
	}), h.clock)
}

// intercept lets the reconciler see what functions say of requests.
func (h *harness) intercept(funcs interceptor.Funcs) {
	h.Helper()
	watching, ok := h.api.(client.WithWatch)
	if !ok {
		h.Fatal("the client cannot watch")
	}
	h.Client = interceptor.NewClient(watching, funcs)
}

// A Binding that a dead scheduler has sent could fill a cluster that another one looks after by
// then. So its clusters and its commons move once the pods have been changed that it may bind.
func TestTheClustersOfTheDeadMoveWhenItsPodsCannotBeBound(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "theirs", UID: "theirs", Labels: map[string]string{berthv1alpha1.HomeSchedulerLabel: "a"},
	}}
	h := newHarness(t, append(clusters(2), readyScheduler("a"), pod)...)
	h.passes(2)
	h.create(readyScheduler("b"), heldLease("a", h.clock.Now()))
	down := true
	h.refuse(&down)
	if _, err := h.Leases.Get(t.Context(), state.DefaultLease("a")); err != nil {
		t.Fatal(err)
	}
	h.setReady("a", false)
	h.clock.Step(11 * time.Second)
	for range 3 {
		if _, err := h.Reconcile(t.Context(), singleton.Key{}); err == nil {
			t.Error("nobody learns that a pod cannot be changed")
		}
	}
	if homes := h.homes(); homes["a"] != 2 || h.scheduler("b").Status.Commons != nil {
		t.Fatalf("homes %v, commons of b %v, while a pod of a may be bound", homes, h.scheduler("b").Status.Commons)
	}
	down = false
	h.passes(3)
	if homes := h.homes(); homes["b"] != 2 || h.scheduler("b").Status.Commons == nil {
		t.Errorf("homes %v, commons of b %v, when none may", homes, h.scheduler("b").Status.Commons)
	}
	if err := h.api.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil || pod.Annotations[berthv1alpha1.SettledAnnotation] == "" {
		t.Errorf("error %v; the pod carries %v", err, pod.Annotations)
	}
}

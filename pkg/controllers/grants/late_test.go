// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grants_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
)

// waiting is a pod without a node whose home is a scheduler.
func waiting(name, home string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)}}
	if home != "" {
		pod.Labels = map[string]string{berthv1alpha1.HomeSchedulerLabel: home}
	}
	return pod
}

// settled returns the values that rule out late Bindings, by the pods that carry one.
func (h *harness) settled() map[string]string {
	h.Helper()
	var pods corev1.PodList
	if err := h.api.List(h.Context(), &pods); err != nil {
		h.Fatal(err)
	}
	values := map[string]string{}
	for i := range pods.Items {
		if value := pods.Items[i].Annotations[berthv1alpha1.SettledAnnotation]; value != "" {
			values[pods.Items[i].Name] = value
		}
	}
	return values
}

// refuse lets the pod theirs not be changed for as long as down is true.
func (h *harness) refuse(down *bool) {
	h.Leases = state.NewLeases(h.api, interceptor.NewClient(h.api, interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
			if o.GetName() == "theirs" && *down {
				return errors.New("unreachable")
			}
			return c.Patch(ctx, o, patch, opts...)
		},
	}), h.clock)
}

// What a scheduler that has died has sent may still arrive. Before its units go to somebody else,
// the pods are changed that it may bind.
func TestTheGrantOfTheDeadMovesWhenItsPodsCannotBeBound(t *testing.T) {
	gated := waiting("gated", "b")
	gated.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}}
	h := newHarness(t, shard("a", &berthv1alpha1.Spending{}), shard("b", wants("6")),
		waiting("theirs", "b"), waiting("homeless", ""), waiting("ours", "a"), gated, holder(0, "b"))
	if err := h.api.Create(t.Context(), lease("b", h.clock)); err != nil {
		t.Fatal(err)
	}
	h.expect("while b lives", "b=7")
	down := true
	h.refuse(&down)
	h.changeScheduler("b", func(s *berthv1alpha1.Scheduler) { setReady(s, false) })
	h.say("a", wants("10"))
	h.expect("while the lease of b lasts", "a=3", "b=7")
	if changed := h.settled(); len(changed) > 0 {
		t.Errorf("pods are changed while b may still bind them: %v", changed)
	}
	h.clock.Step(11 * time.Second)
	if err := h.tryPass(); err == nil {
		t.Error("nobody learns that a pod cannot be changed")
	}
	if got := h.read(); len(got) != 2 {
		t.Fatalf("grants while a pod of b may be bound: %v", got)
	}
	down = false
	h.expect("when none may", "a=9")
	before := h.settled()
	if diff := cmp.Diff([]string{"homeless", "theirs"}, slices.Sorted(maps.Keys(before))); diff != "" {
		t.Errorf("pods that were changed (-want +got):\n%s", diff)
	}
	h.pass()
	if diff := cmp.Diff(before, h.settled()); diff != "" {
		t.Errorf("pods are changed again:\n%s", diff)
	}
}

// A controller that starts anew does not know how far the one before it has come.
func TestALeaseThatAControllerBeforeHasTakenIsNotEnough(t *testing.T) {
	taken := lease("b", testclock.NewFakeClock(noon))
	taken.Spec.HolderIdentity = ptr.To(state.LeaseTaker)
	h := newHarness(t, shard("a", wants("3")), shard("b", nil), waiting("theirs", "b"), taken)
	h.changeScheduler("b", func(s *berthv1alpha1.Scheduler) { setReady(s, false) })
	h.pass()
	h.clock.Step(11 * time.Second)
	h.expect("when the lease has been taken anew", "a=3")
	if len(h.settled()) != 1 {
		t.Error("b may still bind a pod")
	}
}

func TestTheGrantOfWhoeverLostItsLeaseStaysForAsLongAsThatLasted(t *testing.T) {
	h := newHarness(t, shard("a", &berthv1alpha1.Spending{}), shard("b", wants("6")))
	if err := h.api.Create(t.Context(), lease("b", h.clock)); err != nil {
		t.Fatal(err)
	}
	h.expect("while b lives", "b=6")
	if _, err := h.Leases.Get(t.Context(), state.DefaultLease("b")); err != nil {
		t.Fatal(err)
	}
	h.changeScheduler("b", func(s *berthv1alpha1.Scheduler) { setReady(s, false) })
	if err := h.api.Delete(t.Context(), lease("b", h.clock)); err != nil {
		t.Fatal(err)
	}
	h.say("a", wants("10"))
	h.expect("when the lease has been deleted", "a=4", "b=6")
	h.clock.Step(9 * time.Second)
	h.expect("while b may think that it has it", "a=4", "b=6")
	h.clock.Step(2 * time.Second)
	h.expect("when it cannot any more", "a=10")
}

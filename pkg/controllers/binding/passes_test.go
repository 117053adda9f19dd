// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/internal/metricstest"
	"berth.dev/berth/pkg/controllers/internal/singleton"
	"berth.dev/berth/pkg/controllers/state"
)

// comesBack makes a pass, and reports whether another one follows by itself.
func (h *harness) comesBack() bool {
	h.Helper()
	result, err := h.Reconcile(h.Context(), singleton.Key{})
	if err != nil {
		h.Fatal(err)
	}
	return result.RequeueAfter > 0
}

// pin lets a user say which scheduler a cluster is to have.
func (h *harness) pin(cluster, scheduler string) {
	h.Helper()
	c := h.cluster(cluster)
	c.Spec.HomeScheduler = scheduler
	if err := h.api.Update(h.Context(), c); err != nil {
		h.Fatal(err)
	}
}

// Who acknowledges something says so by a change, but a change may be missed.
func TestAPassFollowsWhileSomethingIsUnderWay(t *testing.T) {
	tests := map[string]struct {
		// settled is how many passes come before.
		settled int
		objects []client.Object
		then    func(*harness)
		want    bool
	}{
		"all is settled":        {settled: 3, objects: append(clusters(2), readyScheduler("a"))},
		"the commons are given": {objects: []client.Object{readyScheduler("a")}, want: true},
		"a cluster is asked for": {
			settled: 3, objects: append(clusters(1), readyScheduler("a"), readyScheduler("b")), want: true,
			then: func(h *harness) {
				h.pin("c0", map[string]string{"a": "b", "b": "a"}[h.cluster("c0").Status.HomeScheduler])
			},
		},
		"a scheduler is leaving, and a pod waits for it": {
			settled: 3, objects: []client.Object{readyScheduler("a"), readyScheduler("b"), podOf("b", nil)}, want: true,
			then: func(h *harness) {
				if err := h.api.Delete(h.Context(), h.scheduler("b")); err != nil {
					h.Fatal(err)
				}
			},
		},
		"somebody else writes about a cluster that is not there yet": {
			settled: 3, objects: []client.Object{unmade("c0"), readyScheduler("a")}, want: true,
			then: func(h *harness) {
				c := h.cluster("c0")
				apimeta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{
					Type: berthv1alpha1.ClusterBound, Status: metav1.ConditionFalse, Reason: berthv1alpha1.ReasonNoScheduler,
				})
				if err := h.api.Status().Update(h.Context(), c); err != nil {
					h.Fatal(err)
				}
				h.intercept(interceptor.Funcs{SubResourcePatch: conflict})
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, tc.objects...)
			h.passes(tc.settled)
			if tc.then != nil {
				tc.then(h)
			}
			if got := h.comesBack(); got != tc.want {
				t.Errorf("another pass follows: %t, want %t", got, tc.want)
			}
		})
	}
}

// unmade is a cluster that does not exist yet.
func unmade(name string) *berthv1alpha1.Cluster {
	c := &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
	c.Spec.Provision = &berthv1alpha1.ClusterProvision{CloudLabels: []string{"location is DE"}}
	return c
}

func conflict(
	_ context.Context, _ client.Client, _ string, object client.Object, _ client.Patch, _ ...client.SubResourcePatchOption,
) error {
	return apierrors.NewConflict(schema.GroupResource{}, object.GetName(), nil)
}

// takenFrom is scheduler b with a dead scheduler a, which had two clusters and the commons, and
// whose lease has run out.
func takenFrom(t *testing.T, objects ...client.Object) *harness {
	t.Helper()
	h := newHarness(t, append(append(clusters(2), objects...), readyScheduler("a"))...)
	h.passes(2)
	h.create(readyScheduler("b"), heldLease("a", h.clock.Now()))
	if _, err := h.Leases.Get(t.Context(), state.DefaultLease("a")); err != nil {
		t.Fatal(err)
	}
	h.setReady("a", false)
	h.clock.Step(11 * time.Second)
	return h
}

// A process of the dead scheduler could have come back when the pass has taken too long.
func TestNothingIsTakenFromADeadSchedulerInAPassThatTakesTooLong(t *testing.T) {
	h := takenFrom(t, podOf("a", nil))
	watching, ok := h.api.(client.WithWatch)
	if !ok {
		t.Fatal("the client cannot watch")
	}
	slow := interceptor.NewClient(watching, interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
			h.clock.Step(time.Hour)
			return c.Patch(ctx, o, patch, opts...)
		},
	})
	h.Leases = state.NewLeases(h.api, slow, h.clock)
	if _, err := h.Leases.Get(t.Context(), state.DefaultLease("a")); err != nil {
		t.Fatal(err)
	}
	h.passes(1) // the new one does not know yet since when the lease has not been renewed
	h.clock.Step(11 * time.Second)
	if !h.comesBack() {
		t.Error("no pass follows")
	}
	if homes := h.homes(); homes["a"] != 2 || h.scheduler("b").Status.Commons != nil {
		t.Fatalf("homes %v, commons of b %v", homes, h.scheduler("b").Status.Commons)
	}
	h.passes(3)
	if homes := h.homes(); homes["b"] != 2 || h.scheduler("b").Status.Commons == nil {
		t.Errorf("homes %v, commons of b %v, by quick passes", homes, h.scheduler("b").Status.Commons)
	}
}

// Whose pods another scheduler may be binding is not touched.
func TestWhichPodsAreChangedWhenASchedulerHasDied(t *testing.T) {
	homes := map[string]bool{"a": true, "b": false, "dead": true, "gone": true, "": true}
	dead := readyScheduler("dead")
	setReady(dead, false)
	objects := []client.Object{dead}
	for home := range homes {
		objects = append(objects, podOf(home, func(p *corev1.Pod) { p.Name = "of-" + home }))
	}
	h := takenFrom(t, objects...)
	h.passes(1)
	got := map[string]bool{}
	for home := range homes {
		pod := &corev1.Pod{}
		if err := h.api.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "of-" + home}, pod); err != nil {
			t.Fatal(err)
		}
		got[home] = pod.Annotations[berthv1alpha1.SettledAnnotation] != ""
	}
	if diff := cmp.Diff(homes, got); diff != "" {
		t.Errorf("changed pods by home (-want +got):\n%s", diff)
	}
}

func TestAClusterOfASchedulerThatIsGoneIsBoundAnew(t *testing.T) {
	c := &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c0"}}
	c.Status.HomeScheduler, c.Status.HomeRevision = "gone", 5
	h := newHarness(t, c, readyScheduler("a"))
	for range 3 {
		h.passes(1)
		h.clock.Step(time.Minute)
	}
	if got := h.cluster("c0").Status; got.HomeScheduler != "a" || got.HomeRevision <= 5 {
		t.Errorf("home %q, revision %d", got.HomeScheduler, got.HomeRevision)
	}
}

// Every process of the controller decides the same.
func TestTheFirstReadySchedulerByNameHasTheCommons(t *testing.T) {
	for range 3 {
		var objects []client.Object
		for i := range 20 {
			s := readyScheduler(fmt.Sprintf("s%02d", i))
			setReady(s, i > 0)
			objects = append(objects, s)
		}
		h := newHarness(t, objects...)
		h.passes(2)
		for i := range 20 {
			name := fmt.Sprintf("s%02d", i)
			if got := h.scheduler(name).Status.Commons != nil; got != (i == 1) {
				t.Errorf("%s has the commons: %t", name, got)
			}
		}
	}
}

func TestAClusterThatIsAskedForSaysWhereItGoes(t *testing.T) {
	h := newHarness(t, append(clusters(2), readyScheduler("a"))...)
	h.passes(2)
	h.create(readyScheduler("b"))
	h.pin("c0", "b")
	h.pin("c1", "a")
	h.passes(1)
	if err := h.api.Delete(t.Context(), h.cluster("c1")); err != nil {
		t.Fatal(err)
	}
	h.passes(1)
	want := map[string]string{
		"c0": "scheduler a is asked to give the cluster up to scheduler b", "c1": "scheduler a is asked to give the cluster up",
	}
	got := maps.Clone(want)
	for name := range want {
		got[name] = apimeta.FindStatusCondition(h.cluster(name).Status.Conditions, berthv1alpha1.ClusterBound).Message
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

// A drain that was called off did not take any time.
func TestADrainThatIsCalledOffIsNotTimed(t *testing.T) {
	h := newHarness(t, append(clusters(2), readyScheduler("a"))...)
	h.passes(2)
	h.create(readyScheduler("b"))
	h.pin("c0", "b")
	h.pin("c1", "a")
	before, observed := metricstest.Series(t, "berth_binding_steps_total"), metricstest.Series(t, "berth_binding_drain_duration_seconds")[""]
	h.passes(1)
	h.pin("c0", "a")
	h.passes(1)
	if got := metricstest.Series(t, "berth_binding_steps_total")["cancel"] - before["cancel"]; got != 1 {
		t.Fatalf("%v drains were called off, want 1", got)
	}
	if got := metricstest.Series(t, "berth_binding_drain_duration_seconds")[""] - observed; got != 0 {
		t.Errorf("%v drains were timed, want none", got)
	}
}

// Sizes are looked at again when a scheduler comes.
func TestASchedulerThatComesIsGivenClustersByTheirSizesThen(t *testing.T) {
	h := newHarness(t, append(clusters(13), readyScheduler("a"), readyScheduler("b"))...)
	for name := range h.owners() {
		h.resize(name, 1)
	}
	h.passes(2)
	h.resize("c0", 70)
	h.create(readyScheduler("c"))
	for range 4 {
		h.passes(1)
		for _, name := range []string{"a", "b", "c"} {
			h.acknowledge(name)
		}
	}
	h.passes(1)
	owners := h.owners()
	if large := owners["c0"]; h.homes()[large] != 1 {
		t.Errorf("the scheduler with the large cluster has %d clusters, want no other", h.homes()[large])
	}
}

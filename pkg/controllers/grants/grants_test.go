// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grants_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/grants"
	"berth.dev/berth/pkg/controllers/internal/singleton"
	"berth.dev/berth/pkg/controllers/state"
)

// harness runs the reconciler on a fake API server with a ClusterResource of ten units.
type harness struct {
	*testing.T
	api   client.Client
	clock *testclock.FakeClock
	grants.Reconciler
}

func newHarness(t *testing.T, objects ...client.Object) *harness {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, coordinationv1.AddToScheme, berthv1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	licence := &berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: "licence"}}
	licence.Spec.Capacity = []berthv1alpha1.ClusterResourceQuantity{{Name: "all", Quantity: resource.MustParse("10")}}
	licence.Status.Allocatable = licence.Spec.Capacity
	h := &harness{T: t, clock: testclock.NewFakeClock(time.Now())}
	h.api = fake.NewClientBuilder().WithScheme(scheme).
		WithStatusSubresource(&berthv1alpha1.ClusterResource{}, &berthv1alpha1.Scheduler{}).
		WithIndex(&corev1.Pod{}, state.ConcernedIndex, state.ConcernedValues).
		WithObjects(append(objects, licence)...).Build()
	h.Reconciler = grants.Reconciler{
		Client: h.api, Live: h.api, Leases: state.NewLeases(h.api, h.api, h.clock), Clock: h.clock,
	}
	return h
}

func (h *harness) pass() {
	h.Helper()
	if _, err := h.Reconcile(h.Context(), singleton.Key{}); err != nil {
		h.Fatal(err)
	}
}

// read returns the grants as "SCHEDULER=QUANTITY", with "->TARGET" while one shrinks.
func (h *harness) read() []string {
	h.Helper()
	texts := []string{}
	for _, g := range h.object().Status.Grants {
		text := g.Scheduler + "=" + g.Quantity.String()
		if g.ShrinkTo != nil {
			text += "->" + g.ShrinkTo.String()
		}
		texts = append(texts, text)
	}
	slices.Sort(texts)
	return texts
}

func (h *harness) object() *berthv1alpha1.ClusterResource {
	h.Helper()
	object := &berthv1alpha1.ClusterResource{}
	if err := h.api.Get(h.Context(), client.ObjectKey{Name: "licence"}, object); err != nil {
		h.Fatal(err)
	}
	return object
}

func (h *harness) expect(when string, want ...string) {
	h.Helper()
	h.pass()
	if diff := cmp.Diff(append([]string{}, want...), h.read()); diff != "" {
		h.Fatalf("grants %s (-want +got):\n%s", when, diff)
	}
}

// say lets a scheduler say something; nil that it may give out everything.
func (h *harness) say(name string, spending *berthv1alpha1.Spending) {
	h.Helper()
	h.changeScheduler(name, func(s *berthv1alpha1.Scheduler) { s.Status.Spending = spending })
}

func (h *harness) changeScheduler(name string, change func(*berthv1alpha1.Scheduler)) {
	h.Helper()
	s := &berthv1alpha1.Scheduler{}
	if err := h.api.Get(h.Context(), client.ObjectKey{Name: name}, s); err != nil {
		h.Fatal(err)
	}
	change(s)
	if err := h.api.Status().Update(h.Context(), s); err != nil {
		h.Fatal(err)
	}
}

// answer acknowledges the grant of a scheduler as it is.
func (h *harness) answer(name string, limit string) *berthv1alpha1.Spending {
	h.Helper()
	said := berthv1alpha1.PoolSpending{Resource: "licence", Pool: "all", Limit: ptr.To(resource.MustParse(limit))}
	for _, g := range h.object().Status.Grants {
		if g.Scheduler == name {
			said.Revision = g.Revision
		}
	}
	return &berthv1alpha1.Spending{Pools: []berthv1alpha1.PoolSpending{said}}
}

func wants(units string) *berthv1alpha1.Spending {
	return &berthv1alpha1.Spending{Pools: []berthv1alpha1.PoolSpending{{
		Resource: "licence", Pool: "all", Wanted: ptr.To(resource.MustParse(units)), Least: ptr.To(resource.MustParse("1")),
	}}}
}

func shard(name string, spending *berthv1alpha1.Spending) *berthv1alpha1.Scheduler {
	s := &berthv1alpha1.Scheduler{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{berthv1alpha1.SchedulerFinalizer}}}
	s.Status.Spending = spending
	setReady(s, true)
	return s
}

func setReady(s *berthv1alpha1.Scheduler, ready bool) {
	status := metav1.ConditionFalse
	if ready {
		status = metav1.ConditionTrue
	}
	apimeta.SetStatusCondition(&s.Status.Conditions, metav1.Condition{Type: berthv1alpha1.SchedulerReady, Status: status})
}

// lease is held by a process of a scheduler.
func lease(name string, clock *testclock.FakeClock) *coordinationv1.Lease {
	key := state.DefaultLease(name)
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: ptr.To("process"), LeaseDurationSeconds: ptr.To[int32](10), RenewTime: ptr.To(metav1.NewMicroTime(clock.Now())),
		},
	}
}

// holder is a pod that a scheduler has placed, nobody if that is empty.
func holder(number int, grantee string) *corev1.Pod {
	name := fmt.Sprintf("holder-%d", number)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), Annotations: map[string]string{
			berthv1alpha1.PlacedByAnnotation: name + "/node", berthv1alpha1.ChargedAnnotation: "licence/all=1",
		}},
		Spec: corev1.PodSpec{NodeName: "node"},
	}
	if grantee != "" {
		pod.Annotations[berthv1alpha1.GranteeAnnotation] = grantee
	}
	return pod
}

func TestNothingIsGrantedToOne(t *testing.T) {
	h := newHarness(t, shard("a", nil))
	h.expect("with one Scheduler")
	if got := h.object().Status.GrantsRevision; got != 0 {
		t.Errorf("something was written: revision %d", got)
	}
}

func TestNothingIsGrantedWhileOneMayGiveOutEverything(t *testing.T) {
	h := newHarness(t, shard("a", nil), shard("b", wants("3")))
	if err := h.api.Create(t.Context(), lease("a", h.clock)); err != nil {
		t.Fatal(err)
	}
	h.expect("while a says nothing")
	h.say("a", h.answer("a", "8"))
	h.expect("once a says what it holds", "a=8", "b=2")
}

func TestOneWithoutAProcessNeedNotSayAnything(t *testing.T) {
	h := newHarness(t, shard("a", wants("3")), shard("b", nil))
	h.changeScheduler("b", func(s *berthv1alpha1.Scheduler) { setReady(s, false) })
	h.expect("while nobody has the lease of b", "a=3")
}

func TestGrantsMoveWhenTheyAreAcknowledged(t *testing.T) {
	h := newHarness(t, shard("a", wants("10")), shard("b", &berthv1alpha1.Spending{}))
	h.expect("while only a wants something", "a=10")
	h.say("a", &berthv1alpha1.Spending{})
	h.say("b", wants("4"))
	h.expect("when b wants something", "a=10->6")
	h.expect("before a has answered", "a=10->6")
	h.say("a", h.answer("a", "7"))
	h.expect("when a holds more than it seemed", "a=7", "b=3")
}

func TestWhatPodsHoldOfNobodysGrantIsNotThere(t *testing.T) {
	h := newHarness(t, shard("a", wants("10")), shard("b", &berthv1alpha1.Spending{}), holder(0, ""), holder(1, "gone"))
	h.expect("with two holders", "a=8")
	if err := h.api.Delete(t.Context(), holder(0, "")); err != nil {
		t.Fatal(err)
	}
	h.expect("with one of them gone", "a=9")
}

func TestWhoHasDiedIsCountedByItsPods(t *testing.T) {
	h := newHarness(t, shard("a", &berthv1alpha1.Spending{}), shard("b", wants("6")), holder(0, "b"))
	if err := h.api.Create(t.Context(), lease("b", h.clock)); err != nil {
		t.Fatal(err)
	}
	// It holds one already and gets what it wants beside that.
	h.expect("while b lives", "b=7")
	h.changeScheduler("b", func(s *berthv1alpha1.Scheduler) { setReady(s, false) })
	h.say("a", wants("10"))
	h.expect("while the lease of b lasts", "a=3", "b=7")
	h.clock.Step(11 * time.Second)
	h.expect("when it has been taken", "a=9")
}

func TestWhoLeavesGivesEverythingBack(t *testing.T) {
	h := newHarness(t, shard("a", wants("10")), shard("b", wants("5")), holder(0, "b"))
	h.say("a", &berthv1alpha1.Spending{})
	h.expect("at first", "b=6")
	b := &berthv1alpha1.Scheduler{ObjectMeta: metav1.ObjectMeta{Name: "b"}}
	if err := h.api.Delete(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	h.say("b", &berthv1alpha1.Spending{})
	h.expect("when b is deleted", "b=6->0")
	h.say("b", h.answer("b", "1"))
	h.expect("when it has answered", "b=1->0")
	h.say("b", &berthv1alpha1.Spending{Closed: true})
	h.say("a", wants("10"))
	h.expect("when it has finished", "a=9")
}

func TestASmallerPoolIsTakenFromGrantsFirst(t *testing.T) {
	h := newHarness(t, shard("a", wants("6")), shard("b", wants("4")))
	h.expect("at first", "a=6", "b=4")
	object := h.object()
	object.Spec.Capacity[0].Quantity = resource.MustParse("7")
	if err := h.api.Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	h.say("a", &berthv1alpha1.Spending{})
	h.say("b", &berthv1alpha1.Spending{})
	h.expect("when there is less", "a=6->3", "b=4")
}

func TestGrantsEndWithTheSecondScheduler(t *testing.T) {
	h := newHarness(t, shard("a", wants("3")), shard("b", wants("3")))
	h.expect("with two", "a=3", "b=3")
	before := h.object().Status.GrantsRevision
	h.changeScheduler("b", func(s *berthv1alpha1.Scheduler) { s.Finalizers = nil })
	b := &berthv1alpha1.Scheduler{}
	if err := h.api.Get(t.Context(), client.ObjectKey{Name: "b"}, b); err != nil {
		t.Fatal(err)
	}
	b.Finalizers = nil
	if err := h.api.Update(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if err := h.api.Delete(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	h.say("a", nil)
	h.expect("with one that gives out everything")
	if after := h.object().Status.GrantsRevision; after <= before {
		t.Errorf("revision %d after %d: a process could take an old grant for a new one", after, before)
	}
}

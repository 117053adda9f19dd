// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grants_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/grants"
	"berth.dev/berth/pkg/controllers/internal/schemetest"
	"berth.dev/berth/pkg/controllers/internal/singleton"
	"berth.dev/berth/pkg/controllers/state"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// harness runs the reconciler on a fake API server with a ClusterResource of ten units.
type harness struct {
	*testing.T
	api   client.WithWatch
	clock *testclock.FakeClock
	grants.Reconciler
	// missing is a pod that the API server has and the cache lacks.
	missing *corev1.Pod
	// listing is called before pods are read from the API server.
	listing func()
}

// live reads from the API server itself.
type live struct {
	client.Reader
	*harness
}

func (l live) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	pods, ofPods := list.(*corev1.PodList)
	if ofPods && l.listing != nil {
		l.listing()
	}
	err := l.Reader.List(ctx, list, opts...)
	if ofPods && l.missing != nil {
		pods.Items = append(pods.Items, *l.missing)
	}
	return err
}

func newHarness(t *testing.T, objects ...client.Object) *harness {
	t.Helper()
	scheme := schemetest.New()
	licence := &berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: "licence"}}
	licence.Spec.Capacity = []berthv1alpha1.ClusterResourceQuantity{{Name: "all", Quantity: resource.MustParse("10")}}
	licence.Status.Allocatable = licence.Spec.Capacity
	h := &harness{T: t, clock: testclock.NewFakeClock(noon)}
	h.api = fake.NewClientBuilder().WithScheme(scheme).
		WithStatusSubresource(&berthv1alpha1.ClusterResource{}, &berthv1alpha1.Scheduler{}).
		WithIndex(&corev1.Pod{}, state.ConcernedIndex, state.ConcernedValues).
		WithIndex(&corev1.Pod{}, "spec.nodeName", nodeOf).
		WithObjects(append(objects, licence)...).Build()
	h.Reconciler = grants.Reconciler{
		Client: h.api, Live: live{h.api, h}, Leases: state.NewLeases(h.api, h.api, h.clock), Clock: h.clock,
	}
	return h
}

func nodeOf(object client.Object) []string {
	if pod, ok := object.(*corev1.Pod); ok {
		return []string{pod.Spec.NodeName}
	}
	return nil
}

func (h *harness) pass() {
	h.Helper()
	if err := h.tryPass(); err != nil {
		h.Fatal(err)
	}
}

func (h *harness) tryPass() error {
	_, err := h.Reconcile(h.Context(), singleton.Key{})
	return err
}

// again makes a pass and reports whether another one is to follow.
func (h *harness) again() bool {
	h.Helper()
	result, err := h.Reconcile(h.Context(), singleton.Key{})
	if err != nil {
		h.Fatal(err)
	}
	return result.RequeueAfter > 0
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

// lease returns the Lease of a scheduler, and false if there is none.
func (h *harness) lease(name string) (*coordinationv1.Lease, bool) {
	h.Helper()
	found := &coordinationv1.Lease{}
	err := h.api.Get(h.Context(), state.DefaultLease(name), found)
	if client.IgnoreNotFound(err) != nil {
		h.Fatal(err)
	}
	return found, err == nil
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
			HolderIdentity: ptr.To("process_3dda2801-d675-4688-a63f-dcda8d327f51"), LeaseDurationSeconds: ptr.To[int32](10), RenewTime: ptr.To(metav1.NewMicroTime(clock.Now())),
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
	if _, found := h.lease("b"); found {
		t.Error("a lease was made that nobody ever held")
	}
}

func TestALeaseThatWasTakenIsNotTakenAgain(t *testing.T) {
	h := newHarness(t, shard("a", wants("3")), shard("b", nil))
	h.changeScheduler("b", func(s *berthv1alpha1.Scheduler) { setReady(s, false) })
	if err := h.api.Create(t.Context(), lease("b", h.clock)); err != nil {
		t.Fatal(err)
	}
	h.expect("while the lease of b may be held")
	if !h.again() {
		t.Error("nobody waits until the lease of b runs out")
	}
	h.clock.Step(11 * time.Second)
	h.expect("when it has been taken", "a=3")
	if h.again() {
		t.Error("another pass follows although nothing is under way")
	}
	before, _ := h.lease("b")
	h.clock.Step(time.Second)
	h.pass()
	if after, _ := h.lease("b"); before.ResourceVersion != after.ResourceVersion {
		t.Error("the lease was taken again from nobody")
	}
}

func TestTheLeaseThatASchedulerNamesIsTaken(t *testing.T) {
	b := shard("b", wants("6"))
	b.Spec.Lease = &berthv1alpha1.LeaseReference{Namespace: "berth-schedulers", Name: "berth-scheduler-own"}
	h := newHarness(t, shard("a", &berthv1alpha1.Spending{}), b)
	h.expect("while b lives", "b=6")
	h.changeScheduler("b", func(s *berthv1alpha1.Scheduler) { setReady(s, false) })
	h.say("a", wants("10"))
	h.expect("once it has died", "a=10")
	if _, found := h.lease("own"); !found {
		t.Error("the lease that b names has not been taken")
	}
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

// A unit serves the first of two pods, and the second one wants as much, so that the Scheduler has
// nothing else to say.
func TestWhatAPodHoldsServesNoOther(t *testing.T) {
	h := newHarness(t, shard("a", wants("1")), shard("b", &berthv1alpha1.Spending{}))
	h.expect("for the first pod", "a=1")
	h.expect("before it holds anything", "a=1")
	if err := h.api.Create(t.Context(), holder(0, "a")); err != nil {
		t.Fatal(err)
	}
	h.expect("for the second pod", "a=2")
}

// Behind one pod of the highest priority many wait that have a lower one than those of another
// scheduler.
func TestGrantsGoToTheHigherPriority(t *testing.T) {
	said := wants("1")
	said.Pools[0].Priority = 9
	said.Pools[0].Lower = []berthv1alpha1.PoolDemand{{Wanted: resource.MustParse("20"), Least: resource.MustParse("1"), Priority: -1}}
	h := newHarness(t, shard("a", said), shard("b", wants("8")))
	h.expect("at once", "a=2", "b=8")
}

// What becomes free within a grant moves before its scheduler has seen that another one waits.
func TestWhatBecomesFreeGoesToTheHigherPriority(t *testing.T) {
	next := func(priority int32) *berthv1alpha1.Spending {
		return &berthv1alpha1.Spending{Pools: []berthv1alpha1.PoolSpending{{
			Resource: "licence", Pool: "all",
			Next: []berthv1alpha1.PoolDemand{{Wanted: resource.MustParse("1"), Least: resource.MustParse("1"), Priority: priority}},
		}}}
	}
	h := newHarness(t, shard("a", wants("10")), shard("b", &berthv1alpha1.Spending{}), holder(0, ""))
	h.expect("while only a wants something", "a=9")
	h.say("a", next(1))
	h.say("b", next(1))
	h.expect("while b has a pod of the same priority", "a=9")
	h.say("b", next(2))
	h.expect("when b has one of higher priority", "a=9->8")
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

func TestPodsThatTheCacheLacksAreWaitedFor(t *testing.T) {
	waits, plain := holder(0, "b"), holder(0, "b")
	waits.Spec.NodeName = ""
	plain.Annotations = map[string]string{berthv1alpha1.ClusterResourceAnnotationPrefix + "licence": "1"}
	plain.Spec.NodeName = ""
	tests := map[string]struct {
		cached, missing *corev1.Pod
		want            []string
	}{
		"one that the cache lacks":                       {missing: holder(0, "b"), want: []string{"a=4", "b=6"}},
		"one that the cache knows without a node":        {cached: plain, missing: holder(0, "b"), want: []string{"a=4", "b=6"}},
		"one that the cache knows":                       {cached: holder(0, "b"), want: []string{"a=9"}},
		"one that the cache lacks and that has no node":  {missing: waits, want: []string{"a=10"}},
		"one that the cache lacks, of another scheduler": {missing: holder(0, "a"), want: []string{"a=10"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, shard("a", &berthv1alpha1.Spending{}), shard("b", wants("6")), lease("b", testclock.NewFakeClock(noon)))
			h.expect("while b lives", "b=6")
			h.changeScheduler("b", func(s *berthv1alpha1.Scheduler) { setReady(s, false) })
			h.say("a", wants("10"))
			h.expect("while its lease lasts", "a=4", "b=6")
			if h.missing = tc.missing; tc.cached != nil {
				if err := h.api.Create(t.Context(), tc.cached.DeepCopy()); err != nil {
					t.Fatal(err)
				}
			}
			h.clock.Step(11 * time.Second)
			h.expect("when its lease has been taken", tc.want...)
		})
	}
}

// Until somebody can have the shorter of two Leases that were taken, what their schedulers had is
// granted to others, and no longer.
func TestAPassThatTakesTooLongWritesNothing(t *testing.T) {
	tests := map[string]struct {
		takes time.Duration
		want  []string
	}{
		"in time":  {takes: 3 * time.Second, want: []string{"a=10"}},
		"too late": {takes: 4 * time.Second, want: []string{"b=3", "c=3"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			long := lease("c", testclock.NewFakeClock(noon))
			long.Spec.LeaseDurationSeconds = ptr.To[int32](60)
			h := newHarness(t, shard("a", &berthv1alpha1.Spending{}), shard("b", wants("3")), shard("c", wants("3")),
				lease("b", testclock.NewFakeClock(noon)), long)
			h.expect("while all live", "b=3", "c=3")
			for _, name := range []string{"b", "c"} {
				h.changeScheduler(name, func(s *berthv1alpha1.Scheduler) { setReady(s, false) })
			}
			h.expect("while their leases last", "b=3", "c=3")
			h.say("a", wants("10"))
			h.clock.Step(61 * time.Second)
			h.listing = func() { h.clock.Step(tc.takes) }
			again := h.again()
			if diff := cmp.Diff(tc.want, h.read()); diff != "" {
				t.Errorf("grants when both were taken (-want +got):\n%s", diff)
			}
			if !again && tc.takes > 3*time.Second {
				t.Error("nobody tries again")
			}
		})
	}
}

func TestAPoolThatIsDeclaredNoMoreIsTakenBack(t *testing.T) {
	for name, published := range map[string]bool{"and still published": false, "nor published": true} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, shard("a", wants("6")), shard("b", &berthv1alpha1.Spending{}))
			h.expect("at first", "a=6")
			object := h.object()
			object.Spec.Capacity[0].Name = "another"
			if err := h.api.Update(t.Context(), object); err != nil {
				t.Fatal(err)
			}
			if published {
				object.Status.Allocatable = object.Spec.Capacity
				if err := h.api.Status().Update(t.Context(), object); err != nil {
					t.Fatal(err)
				}
			}
			h.say("a", &berthv1alpha1.Spending{})
			h.expect("when the pool is declared no more", "a=6->0")
		})
	}
}

func TestTheLastGrantEndsWithTheSecondScheduler(t *testing.T) {
	h := newHarness(t, shard("a", wants("3")), shard("b", &berthv1alpha1.Spending{}))
	h.expect("with two", "a=3")
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
}

func TestGrantsAreInOrder(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e", "f", "g"}
	h := newHarness(t)
	for _, name := range names {
		if err := h.api.Create(t.Context(), shard(name, wants("1"))); err != nil {
			t.Fatal(err)
		}
	}
	h.pass()
	var got []string
	for _, g := range h.object().Status.Grants {
		got = append(got, g.Scheduler)
	}
	if diff := cmp.Diff(names, got); diff != "" {
		t.Errorf("grants (-want +got):\n%s", diff)
	}
}

func TestWhatCannotBeWritten(t *testing.T) {
	resources := berthv1alpha1.SchemeGroupVersion.WithResource("clusterresources").GroupResource()
	for name, tc := range map[string]struct {
		answer              error
		wantAgain, wantFail bool
	}{
		"somebody else has written":  {answer: apierrors.NewConflict(resources, "licence", nil), wantAgain: true},
		"the resource has gone":      {answer: apierrors.NewNotFound(resources, "licence")},
		"the API server is not well": {answer: apierrors.NewInternalError(errors.New("down")), wantFail: true},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, shard("a", wants("6")), shard("b", &berthv1alpha1.Spending{}))
			h.Client = interceptor.NewClient(h.api, interceptor.Funcs{
				SubResourcePatch: func(context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
					return tc.answer
				},
			})
			result, err := h.Reconcile(t.Context(), singleton.Key{})
			if again := result.RequeueAfter > 0; again != tc.wantAgain || (err != nil) != tc.wantFail {
				t.Errorf("tried again: %t, error: %v", again, err)
			}
		})
	}
}

func TestPoolsThatAnotherProgramReportsAreGranted(t *testing.T) {
	h := newHarness(t, shard("a", wants("20")), shard("b", &berthv1alpha1.Spending{}))
	object := h.object()
	object.Spec.Capacity = nil
	if err := h.api.Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	h.expect("of a pool that the spec does not declare", "a=10")
}

func TestPoolsThatCannotBeUsedKeepTheirGrants(t *testing.T) {
	h := newHarness(t, shard("a", wants("6")), shard("b", &berthv1alpha1.Spending{}))
	h.expect("at first", "a=6")
	object := h.object()
	object.Status.Allocatable = append(object.Status.Allocatable, object.Status.Allocatable[0])
	if err := h.api.Status().Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	h.say("a", wants("9"))
	h.expect("while two pools have one name", "a=6")
}

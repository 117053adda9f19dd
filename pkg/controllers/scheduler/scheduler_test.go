// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	testclock "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/internal/schemetest"
	"berth.dev/berth/pkg/controllers/scheduler"
	"berth.dev/berth/pkg/controllers/state"
)

// harness runs the reconciler on a fake API server.
type harness struct {
	*testing.T
	api   client.Client
	clock *testclock.FakeClock
	// events are those that were recorded.
	events *events.FakeRecorder
	scheduler.Reconciler
}

func newHarness(t *testing.T, objects ...client.Object) *harness {
	t.Helper()
	scheme := schemetest.New()
	h := &harness{T: t, clock: testclock.NewFakeClock(time.Now()), events: events.NewFakeRecorder(10)}
	h.api = fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&berthv1alpha1.Scheduler{}).WithObjects(objects...).Build()
	h.Reconciler = scheduler.Reconciler{
		Client: h.api, Live: h.api, Leases: state.NewLeases(h.api, h.api, h.clock), Clock: h.clock, Recorder: h.events,
		Template: types.NamespacedName{Namespace: "berth-system", Name: "berth-scheduler"},
	}
	return h
}

// look reconciles the Scheduler a and returns "Status Reason" of its condition Ready.
func (h *harness) look() string {
	h.Helper()
	if _, err := h.Reconcile(h.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Name: "a"}}); err != nil {
		h.Fatal(err)
	}
	s := &berthv1alpha1.Scheduler{}
	if err := h.api.Get(h.Context(), client.ObjectKey{Name: "a"}, s); err != nil {
		h.Fatal(err)
	}
	c := apimeta.FindStatusCondition(s.Status.Conditions, berthv1alpha1.SchedulerReady)
	return fmt.Sprintf("%s %s", c.Status, c.Reason)
}

func (h *harness) renew(change func(*coordinationv1.LeaseSpec)) {
	h.Helper()
	key := state.DefaultLease("a")
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	err := h.api.Get(h.Context(), key, lease)
	lease.Spec.HolderIdentity = ptr.To("process_3dda2801-d675-4688-a63f-dcda8d327f51")
	lease.Spec.LeaseDurationSeconds = ptr.To[int32](10)
	lease.Spec.RenewTime = ptr.To(metav1.NewMicroTime(h.clock.Now()))
	if change != nil {
		change(&lease.Spec)
	}
	if err != nil {
		err = h.api.Create(h.Context(), lease)
	} else {
		err = h.api.Update(h.Context(), lease)
	}
	if err != nil {
		h.Fatal(err)
	}
}

func object() *berthv1alpha1.Scheduler {
	return &berthv1alpha1.Scheduler{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "a"}}
}

func TestReadyByTheLease(t *testing.T) {
	h := newHarness(t, object())
	steps := []struct {
		what string
		do   func()
		want string
	}{
		{"before anything has started", func() {}, "False NoLease"},
		{"once it is held", func() { h.renew(nil) }, "True LeaseHeld"},
		{"for as long as it lasts", func() { h.clock.Step(9 * time.Second) }, "True LeaseHeld"},
		{"and no longer", func() { h.clock.Step(2 * time.Second) }, "False LeaseExpired"},
		{"renewed by a clock that is wrong", func() {
			h.renew(func(l *coordinationv1.LeaseSpec) {
				l.RenewTime = ptr.To(metav1.NewMicroTime(h.clock.Now().Add(-time.Hour)))
			})
		}, "True LeaseHeld"},
		{"given back, it may be taken up again", func() {
			h.clock.Step(time.Second)
			h.renew(func(l *coordinationv1.LeaseSpec) {
				l.HolderIdentity, l.LeaseDurationSeconds = ptr.To(""), ptr.To[int32](1)
			})
		}, "True LeaseHeld"},
		{"until it would have run out", func() { h.clock.Step(10 * time.Second) }, "False LeaseExpired"},
		{"held by a stranger", func() {
			h.renew(func(l *coordinationv1.LeaseSpec) { l.HolderIdentity = ptr.To("stranger") })
		}, "False LeaseHeldByStranger"},
		{"held again", func() { h.renew(nil) }, "True LeaseHeld"},
	}
	for _, step := range steps {
		step.do()
		if got := h.look(); got != step.want {
			t.Fatalf("%s: Ready = %q, want %q", step.what, got, step.want)
		}
	}
}

// TestAWarningTellsOnceThatNoProcessRuns goes through a start that takes a while, a life and a
// death.
func TestAWarningTellsOnceThatNoProcessRuns(t *testing.T) {
	h := newHarness(t, object())
	steps := []struct {
		what string
		do   func()
		want string
	}{
		{"just made", func() {}, ""},
		{"no process comes", func() { h.clock.Step(7 * time.Second) }, "Warning NoLease"},
		{"still none", func() { h.clock.Step(time.Minute) }, ""},
		{"one comes", func() { h.renew(nil) }, ""},
		{"it is gone", func() { h.clock.Step(11 * time.Second) }, ""},
		{"for good", func() { h.clock.Step(time.Minute) }, "Warning LeaseExpired"},
		{"somebody else takes its lease", func() {
			h.renew(func(l *coordinationv1.LeaseSpec) { l.HolderIdentity = ptr.To("stranger") })
		}, "Warning LeaseHeldByStranger"},
		{"and keeps it", func() { h.clock.Step(5 * time.Second) }, ""},
	}
	for _, step := range steps {
		step.do()
		h.look()
		got := ""
		select {
		case got = <-h.events.Events:
		default:
		}
		if step.want == "" && got != "" || !strings.HasPrefix(got, step.want) {
			t.Fatalf("%s: event %q, want %q", step.what, got, step.want)
		}
	}
}

func TestALeaseIsTakenOnlyAfterItHasRunOut(t *testing.T) {
	h := newHarness(t, object())
	key := state.DefaultLease("a")
	h.renew(nil)
	h.look()
	h.clock.Step(5 * time.Second)
	if _, taken, err := h.Leases.Acquire(t.Context(), key); taken || err != nil {
		t.Fatalf("taken = %v, error %v, while it was held", taken, err)
	}
	h.clock.Step(6 * time.Second)
	until, taken, err := h.Leases.Acquire(t.Context(), key)
	if !taken || err != nil {
		t.Fatalf("taken = %v, error %v, after it had run out", taken, err)
	}
	if left := until.Sub(h.clock.Now()); left <= 0 || left >= 10*time.Second {
		t.Errorf("it counts as taken for %v, want less than it lasts", left)
	}
	if got, want := h.look(), "False LeaseExpired"; got != want {
		t.Errorf("Ready = %q, want %q", got, want)
	}
	h.renew(nil)
	if got, want := h.look(), "True LeaseHeld"; got != want {
		t.Errorf("Ready = %q once a process holds it again, want %q", got, want)
	}
}

// A process that comes back waits for as long as the Lease says, and not for the second of one that
// was given back.
func TestALeaseThatWasGivenBackIsTakenForAsLongAsItCounts(t *testing.T) {
	h := newHarness(t, object())
	h.renew(func(l *coordinationv1.LeaseSpec) {
		l.HolderIdentity, l.LeaseDurationSeconds = ptr.To(""), ptr.To[int32](1)
	})
	h.look()
	h.clock.Step(time.Minute)
	key := state.DefaultLease("a")
	until, taken, err := h.Leases.Acquire(t.Context(), key)
	if !taken || err != nil {
		t.Fatalf("taken = %v, error %v, after it had run out", taken, err)
	}
	lease := &coordinationv1.Lease{}
	if err := h.api.Get(t.Context(), key, lease); err != nil {
		t.Fatal(err)
	}
	if lasts := time.Duration(*lease.Spec.LeaseDurationSeconds) * time.Second; lasts <= until.Sub(h.clock.Now()) {
		t.Errorf("it lasts for %v, and counts as taken for %v", lasts, until.Sub(h.clock.Now()))
	}
}

func TestALeaseThatNeverWasIsTaken(t *testing.T) {
	h := newHarness(t, object())
	if _, taken, err := h.Leases.Acquire(t.Context(), state.DefaultLease("a")); !taken || err != nil {
		t.Errorf("taken = %v, error %v", taken, err)
	}
}

func template() *appsv1.Deployment {
	labels := map[string]string{"app.kubernetes.io/name": "berth-scheduler"}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "berth-system", Name: "berth-scheduler", Labels: labels}}
	d.Spec.Replicas = ptr.To[int32](2)
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	d.Spec.Template.Labels = labels
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "scheduler", Image: "i", Args: []string{"--config=c"}}}
	return d
}

func TestAManagedSchedulerIsRun(t *testing.T) {
	s := object()
	s.Spec.Managed = &berthv1alpha1.ManagedScheduler{Replicas: 1}
	h := newHarness(t, s)
	if got, want := h.look(), "False NoTemplate"; got != want {
		t.Errorf("Ready = %q, want %q", got, want)
	}
	original := template()
	if err := h.api.Create(t.Context(), original); err != nil {
		t.Fatal(err)
	}
	h.look()
	get := func() *appsv1.Deployment {
		d := &appsv1.Deployment{}
		if err := h.api.Get(t.Context(), client.ObjectKey{Namespace: "berth-system", Name: "berth-scheduler-a"}, d); err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := get()
	wantArgs := []string{"--config=c", "--scheduler-name=a", "--register-scheduler=false"}
	if got := d.Spec.Template.Spec.Containers[0]; got.Image != "i" || !slices.Equal(got.Args, wantArgs) {
		t.Errorf("it runs image %s with %v", got.Image, got.Args)
	}
	if *d.Spec.Replicas != 1 || !metav1.IsControlledBy(d, s) {
		t.Errorf("replicas %d, owners %v", *d.Spec.Replicas, d.OwnerReferences)
	}
	if selector := d.Spec.Selector.MatchLabels; original.Spec.Template.Labels["app.kubernetes.io/name"] == selector["app.kubernetes.io/name"] {
		t.Errorf("the selector %v overlaps with that of the original", selector)
	}
	version := d.ResourceVersion
	h.look()
	if got := get().ResourceVersion; got != version {
		t.Error("it is written anew although nothing has changed")
	}
	original.Spec.Template.Spec.Containers[0].Image = "newer"
	if err := h.api.Update(t.Context(), original); err != nil {
		t.Fatal(err)
	}
	h.look()
	if got := get().Spec.Template.Spec.Containers[0].Image; got != "newer" {
		t.Errorf("it runs image %s after the original was changed", got)
	}
}

// The status is about the Scheduler as it is, also if nothing can be run for it.
func TestAManagedSchedulerWithoutATemplateIsSeen(t *testing.T) {
	s := object()
	s.Generation = 2
	s.Spec.Managed = &berthv1alpha1.ManagedScheduler{Replicas: 1}
	h := newHarness(t, s)
	h.renew(nil)
	if _, err := h.Reconcile(t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Name: "a"}}); err == nil {
		t.Error("nobody says that there is nothing to run")
	}
	if err := h.api.Get(t.Context(), client.ObjectKey{Name: "a"}, s); err != nil {
		t.Fatal(err)
	}
	if told := apimeta.FindStatusCondition(s.Status.Conditions, berthv1alpha1.SchedulerReady); s.Status.ObservedGeneration != 2 ||
		told == nil || told.ObservedGeneration != 2 {
		t.Errorf("the status is of generation %d, and the condition is %+v", s.Status.ObservedGeneration, told)
	}
}

func TestAManagedSchedulerThatIsGoneIsStopped(t *testing.T) {
	s := object()
	s.Spec.Managed = &berthv1alpha1.ManagedScheduler{Replicas: 1}
	foreign := template()
	foreign.Name = berthv1alpha1.DefaultLeasePrefix + "foreign"
	h := newHarness(t, s, template(), foreign)
	h.look()
	if err := h.api.Delete(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "foreign", "never-was"} {
		if _, err := h.Reconcile(t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
	var left appsv1.DeploymentList
	if err := h.api.List(t.Context(), &left); err != nil {
		t.Fatal(err)
	}
	names := make([]string, 0, len(left.Items))
	for i := range left.Items {
		names = append(names, left.Items[i].Name)
	}
	slices.Sort(names)
	if want := []string{"berth-scheduler", "berth-scheduler-foreign"}; !slices.Equal(names, want) {
		t.Errorf("the Deployments %q are left, want %q", names, want)
	}
}

func TestASchedulerThatIsNotManagedAnyMoreIsStopped(t *testing.T) {
	s := object()
	s.Generation = 1
	s.Spec.Managed = &berthv1alpha1.ManagedScheduler{Replicas: 1}
	h := newHarness(t, s, template())
	h.look()
	key := client.ObjectKey{Namespace: "berth-system", Name: "berth-scheduler-a"}
	if err := h.api.Get(t.Context(), key, &appsv1.Deployment{}); err != nil {
		t.Fatal(err)
	}
	live := &berthv1alpha1.Scheduler{}
	if err := h.api.Get(t.Context(), client.ObjectKeyFromObject(s), live); err != nil {
		t.Fatal(err)
	}
	live.Generation, live.Spec.Managed = 2, nil
	if err := h.api.Update(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	h.look()
	if err := h.api.Get(t.Context(), key, &appsv1.Deployment{}); !apierrors.IsNotFound(err) {
		t.Errorf("reading its Deployment: %v, want that it is gone", err)
	}
}

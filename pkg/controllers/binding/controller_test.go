// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/binding"
	"berth.dev/berth/pkg/controllers/internal/schemetest"
	"berth.dev/berth/pkg/controllers/internal/singleton"
	"berth.dev/berth/pkg/controllers/state"
)

// harness runs the reconciler on a fake API server.
type harness struct {
	*testing.T
	api    client.Client
	clock  *testclock.FakeClock
	leases *state.Leases
	binding.Reconciler
}

func newHarness(t *testing.T, objects ...client.Object) *harness {
	t.Helper()
	scheme := schemetest.New()
	h := &harness{T: t, clock: testclock.NewFakeClock(time.Now())}
	h.api = fake.NewClientBuilder().WithScheme(scheme).
		WithStatusSubresource(&berthv1alpha1.Cluster{}, &berthv1alpha1.Scheduler{}).
		WithIndex(&corev1.Pod{}, "spec.nodeName", func(object client.Object) []string {
			if pod, ok := object.(*corev1.Pod); ok {
				return []string{pod.Spec.NodeName}
			}
			return nil
		}).
		WithObjects(objects...).Build()
	h.leases = state.NewLeases(h.api, h.api, h.clock)
	h.Reconciler = binding.Reconciler{Client: h.api, Live: h.api, Leases: h.leases, Clock: h.clock}
	return h
}

// passes reconciles several times.
func (h *harness) passes(n int) {
	h.Helper()
	for range n {
		if _, err := h.Reconcile(h.Context(), singleton.Key{}); err != nil {
			h.Fatal(err)
		}
	}
}

func get[T client.Object](h *harness, object T, name string) T {
	h.Helper()
	if err := h.api.Get(h.Context(), client.ObjectKey{Name: name}, object); err != nil {
		h.Fatal(err)
	}
	return object
}

func (h *harness) cluster(name string) *berthv1alpha1.Cluster {
	h.Helper()
	return get(h, &berthv1alpha1.Cluster{}, name)
}

func (h *harness) scheduler(name string) *berthv1alpha1.Scheduler {
	h.Helper()
	return get(h, &berthv1alpha1.Scheduler{}, name)
}

// reason returns "Status Reason" of the condition Bound.
func (h *harness) reason(name string) string {
	h.Helper()
	c := apimeta.FindStatusCondition(h.cluster(name).Status.Conditions, berthv1alpha1.ClusterBound)
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%s %s", c.Status, c.Reason)
}

func (h *harness) homes() map[string]int {
	h.Helper()
	var list berthv1alpha1.ClusterList
	if err := h.api.List(h.Context(), &list); err != nil {
		h.Fatal(err)
	}
	homes := map[string]int{}
	for i := range list.Items {
		homes[list.Items[i].Status.HomeScheduler]++
	}
	return homes
}

// acknowledge lets a scheduler drain everything that it is asked to.
func (h *harness) acknowledge(name string) {
	h.Helper()
	var list berthv1alpha1.ClusterList
	if err := h.api.List(h.Context(), &list); err != nil {
		h.Fatal(err)
	}
	s := h.scheduler(name)
	s.Status.Drained = nil
	for i := range list.Items {
		if c := &list.Items[i]; c.Status.HomeScheduler == name && c.Status.HomeTransfer != nil {
			s.Status.Drained = append(s.Status.Drained, berthv1alpha1.Drained{Cluster: c.Name, Revision: c.Status.HomeRevision})
		}
	}
	if c := s.Status.Commons; c != nil && c.Draining {
		s.Status.Drained = append(s.Status.Drained, berthv1alpha1.Drained{Cluster: berthv1alpha1.CommonsName, Revision: c.Revision})
	}
	if err := h.api.Status().Update(h.Context(), s); err != nil {
		h.Fatal(err)
	}
}

func (h *harness) create(objects ...client.Object) {
	h.Helper()
	for _, object := range objects {
		if err := h.api.Create(h.Context(), object); err != nil {
			h.Fatal(err)
		}
	}
}

func (h *harness) setReady(name string, ready bool) {
	h.Helper()
	s := h.scheduler(name)
	setReady(s, ready)
	if err := h.api.Status().Update(h.Context(), s); err != nil {
		h.Fatal(err)
	}
}

func setReady(s *berthv1alpha1.Scheduler, ready bool) {
	status := metav1.ConditionFalse
	if ready {
		status = metav1.ConditionTrue
	}
	apimeta.SetStatusCondition(&s.Status.Conditions, metav1.Condition{
		Type: berthv1alpha1.SchedulerReady, Status: status, Reason: berthv1alpha1.ReasonLeaseHeld,
	})
}

func readyScheduler(name string) *berthv1alpha1.Scheduler {
	s := &berthv1alpha1.Scheduler{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: berthv1alpha1.SchedulerSpec{Weight: 1}}
	s.Status.Sharing = true
	setReady(s, true)
	return s
}

func clusters(n int) []client.Object {
	objects := make([]client.Object, n)
	for i := range objects {
		objects[i] = &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("c", i)}}
	}
	return objects
}

// heldLease is a lease that a scheduler holds for ten seconds after each renewal.
func heldLease(name string, now time.Time) *coordinationv1.Lease {
	key := state.DefaultLease(name)
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: ptr.To("process-of-" + name + "_3dda2801-d675-4688-a63f-dcda8d327f51"), LeaseDurationSeconds: ptr.To[int32](10),
			RenewTime: ptr.To(metav1.NewMicroTime(now)),
		},
	}
}

func TestWithoutASchedulerClustersSayThatTheyAreNotBound(t *testing.T) {
	h := newHarness(t, clusters(1)...)
	h.passes(1)
	if got, want := h.reason("c0"), "False NoScheduler"; got != want {
		t.Errorf("Bound = %q, want %q", got, want)
	}
	if got := h.cluster("c0"); got.Status.HomeScheduler != "" || len(got.Finalizers) > 0 {
		t.Errorf("home %q, finalizers %v, want none", got.Status.HomeScheduler, got.Finalizers)
	}
}

// What marks a Cluster that schedulers place pods on goes when it turns out not to exist yet, and
// comes back when it does.
func TestAClusterThatDoesNotExistYetHasNoMarks(t *testing.T) {
	h := newHarness(t, clusters(2)...)
	h.passes(1)
	for name, finalizers := range map[string][]string{"c0": nil, "c1": {berthv1alpha1.ClusterFinalizer}} {
		c := h.cluster(name)
		c.Finalizers, c.Spec.Provision = finalizers, &berthv1alpha1.ClusterProvision{CloudLabels: []string{"location is DE"}}
		if err := h.api.Update(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	h.passes(1)
	for _, name := range []string{"c0", "c1"} {
		if got := h.reason(name); got != "" || len(h.cluster(name).Finalizers) > 0 {
			t.Errorf("%s: Bound = %q, finalizers %v, want none", name, got, h.cluster(name).Finalizers)
		}
	}
	c := h.cluster("c0")
	c.Spec.Provision = nil
	if err := h.api.Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	h.passes(1)
	if got, want := h.reason("c0"), "False NoScheduler"; got != want {
		t.Errorf("Bound = %q once the cluster is there, want %q", got, want)
	}
}

func TestTheFirstSchedulerGetsEverything(t *testing.T) {
	h := newHarness(t, append(clusters(3), readyScheduler("a"))...)
	h.passes(2)
	if got := h.homes()["a"]; got != 3 {
		t.Errorf("%d clusters are bound, want 3", got)
	}
	if got, want := h.reason("c0"), "True Bound"; got != want {
		t.Errorf("Bound = %q, want %q", got, want)
	}
	a := h.scheduler("a")
	if a.Status.Commons == nil || !slices.Contains(a.Finalizers, berthv1alpha1.SchedulerFinalizer) {
		t.Errorf("commons %v, finalizers %v, want both", a.Status.Commons, a.Finalizers)
	}
	if got := h.cluster("c0").Finalizers; len(got) > 0 {
		t.Errorf("the cluster has finalizers %v, although there is nobody to drain for", got)
	}
}

// A scheduler that has not heard of the other one places pods on clusters that nobody has.
func TestNobodyGetsAClusterThatAnotherMayUse(t *testing.T) {
	unaware := readyScheduler("a")
	unaware.Status.Sharing = false
	h := newHarness(t, append(clusters(10), unaware, readyScheduler("b"))...)
	h.passes(2)
	if got := h.homes(); got["b"] > 0 || got["a"] == 0 {
		t.Errorf("clusters by home: %v, want some of a and none of b", got)
	}
	waits := slices.IndexFunc(clusters(10), func(c client.Object) bool { return h.cluster(c.GetName()).Status.HomeScheduler == "" })
	if got, want := h.reason(fmt.Sprint("c", waits)), "False SchedulerNotSharing"; got != want {
		t.Errorf("Bound = %q, want %q", got, want)
	}
	a := h.scheduler("a")
	a.Status.Sharing = true
	if err := h.api.Status().Update(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	h.passes(1)
	if got := h.homes(); got[""] > 0 || got["b"] == 0 {
		t.Errorf("clusters by home: %v, want some of a and some of b", got)
	}
}

func TestClustersMoveAfterTheAcknowledgement(t *testing.T) {
	h := newHarness(t, append(clusters(20), readyScheduler("a"))...)
	h.passes(1)
	h.create(readyScheduler("b"))
	h.passes(3)
	if got := h.homes()["b"]; got != 0 {
		t.Fatalf("%d clusters moved before anything was acknowledged", got)
	}
	for range 4 {
		h.acknowledge("a")
		h.passes(1)
	}
	if got := h.homes(); got["a"] > 11 || got["b"] > 11 || got["a"]+got["b"] != 20 {
		t.Errorf("clusters by scheduler: %v, want at most 11 each", got)
	}
	for i := range 20 {
		c := h.cluster(fmt.Sprint("c", i))
		if c.Status.HomeTransfer != nil || !slices.Contains(c.Finalizers, berthv1alpha1.ClusterFinalizer) {
			t.Errorf("cluster %s: transfer %v, finalizers %v", c.Name, c.Status.HomeTransfer, c.Finalizers)
		}
	}
}

func TestDrainsAreLimited(t *testing.T) {
	h := newHarness(t, append(clusters(60), readyScheduler("a"))...)
	h.passes(1)
	h.create(readyScheduler("b"))
	h.passes(3)
	draining := 0
	for i := range 60 {
		if h.cluster(fmt.Sprint("c", i)).Status.HomeTransfer != nil {
			draining++
		}
	}
	if draining != 10 {
		t.Errorf("%d clusters are drained at a time, want 10", draining)
	}
}

func TestADeadSchedulerLosesItsClustersOnlyWithItsLease(t *testing.T) {
	h := newHarness(t, append(clusters(4), readyScheduler("a"))...)
	h.passes(2)
	h.create(readyScheduler("b"), heldLease("a", h.clock.Now()))
	key := state.DefaultLease("a")
	if state, err := h.leases.Get(t.Context(), key); err != nil || !state.Alive {
		t.Fatalf("state %+v, error %v", state, err)
	}
	h.setReady("a", false)
	h.clock.Step(5 * time.Second)
	h.passes(2)
	if got := h.homes()["b"]; got != 0 {
		t.Fatalf("%d clusters were taken while the lease was still held", got)
	}
	h.clock.Step(6 * time.Second)
	h.passes(3)
	if got := h.homes()["b"]; got != 4 {
		t.Errorf("%d clusters were taken after the lease had run out, want 4", got)
	}
	lease := &coordinationv1.Lease{}
	if err := h.api.Get(t.Context(), key, lease); err != nil {
		t.Fatal(err)
	}
	if got := ptr.Deref(lease.Spec.HolderIdentity, ""); got != state.LeaseTaker {
		t.Errorf("the lease is held by %q, want %q", got, state.LeaseTaker)
	}
	if h.scheduler("a").Status.Commons != nil || h.scheduler("b").Status.Commons == nil {
		t.Error("the commons did not go with the clusters")
	}
}

// However often a stranger renews the lease, the clusters go once the process that held it before
// can bind nothing any more.
func TestASchedulerWhoseLeaseAStrangerTakesLosesItsClusters(t *testing.T) {
	h := newHarness(t, append(clusters(4), readyScheduler("a"))...)
	h.passes(2)
	h.create(readyScheduler("b"), heldLease("a", h.clock.Now()))
	key := state.DefaultLease("a")
	if _, err := h.leases.Get(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	lease := &coordinationv1.Lease{}
	if err := h.api.Get(t.Context(), key, lease); err != nil {
		t.Fatal(err)
	}
	lease.Spec.HolderIdentity, lease.Spec.LeaseDurationSeconds = ptr.To("stranger"), ptr.To[int32](3600)
	if err := h.api.Update(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	h.setReady("a", false)
	h.passes(1)
	h.clock.Step(9 * time.Second)
	h.passes(1)
	if got := h.homes()["b"]; got != 0 {
		t.Fatalf("%d clusters were taken while the process could still bind", got)
	}
	h.clock.Step(2 * time.Second)
	h.passes(3)
	if got := h.homes()["b"]; got != 4 {
		t.Errorf("%d clusters were taken, want 4", got)
	}
	if err := h.api.Get(t.Context(), key, lease); err != nil {
		t.Fatal(err)
	}
	if got := ptr.Deref(lease.Spec.LeaseDurationSeconds, 0); got > 60 {
		t.Errorf("a process of the scheduler has to wait %d seconds for the lease", got)
	}
}

func TestTheLastSchedulerLosesEverythingWithItsLease(t *testing.T) {
	h := newHarness(t, append(clusters(3), readyScheduler("a"), heldLease("a", time.Now()))...)
	h.passes(2)
	if _, err := h.leases.Get(t.Context(), state.DefaultLease("a")); err != nil {
		t.Fatal(err)
	}
	h.setReady("a", false)
	h.passes(2)
	if got := h.homes()["a"]; got != 3 || h.scheduler("a").Status.Commons == nil {
		t.Fatalf("%d clusters are left while the lease was held, commons %v", got, h.scheduler("a").Status.Commons)
	}
	h.clock.Step(11 * time.Second)
	h.passes(3)
	if got := h.homes()[""]; got != 3 || h.scheduler("a").Status.Commons != nil {
		t.Errorf("%d clusters are free after the lease had run out, commons %v", got, h.scheduler("a").Status.Commons)
	}
	if got, want := h.reason("c0"), "False NoReadyScheduler"; got != want {
		t.Errorf("Bound = %q, want %q", got, want)
	}
	h.setReady("a", true)
	h.passes(2)
	if got := h.homes()["a"]; got != 3 || h.scheduler("a").Status.Commons == nil {
		t.Errorf("it came back and got %d clusters", got)
	}
}

func TestASchedulerThatIsDeletedGivesEverythingUpFirst(t *testing.T) {
	waiting := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "p", Labels: map[string]string{berthv1alpha1.HomeSchedulerLabel: "a"},
	}}
	h := newHarness(t, append(clusters(4), readyScheduler("a"), waiting)...)
	h.passes(2)
	h.create(readyScheduler("b"))
	h.passes(1)
	if err := h.api.Delete(t.Context(), h.scheduler("a")); err != nil {
		t.Fatal(err)
	}
	h.passes(2)
	if got := h.homes()["a"]; got != 4 {
		t.Fatalf("%d clusters are left before the acknowledgement, want 4", got)
	}
	for range 3 {
		h.acknowledge("a")
		h.passes(1)
	}
	h.passes(1)
	if got := h.homes()["b"]; got != 4 || h.scheduler("b").Status.Commons == nil {
		t.Errorf("%d clusters have moved, commons %v, want 4 and the commons", got, h.scheduler("b").Status.Commons)
	}
	h.scheduler("a") // kept for the pod
	waiting.Labels[berthv1alpha1.HomeSchedulerLabel] = "b"
	if err := h.api.Update(t.Context(), waiting); err != nil {
		t.Fatal(err)
	}
	h.passes(1)
	err := h.api.Get(t.Context(), client.ObjectKey{Name: "a"}, &berthv1alpha1.Scheduler{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("the Scheduler is still there: %v", err)
	}
}

func TestAClusterThatIsDeletedIsDrainedFirst(t *testing.T) {
	h := newHarness(t, append(clusters(2), readyScheduler("a"), readyScheduler("b"))...)
	h.passes(2)
	owner := h.cluster("c0").Status.HomeScheduler
	if err := h.api.Delete(t.Context(), h.cluster("c0")); err != nil {
		t.Fatal(err)
	}
	h.passes(2)
	if transfer := h.cluster("c0").Status.HomeTransfer; transfer == nil || transfer.To != "" {
		t.Fatalf("the scheduler is asked for %+v, want to give the cluster to nobody", transfer)
	}
	h.acknowledge(owner)
	h.passes(2)
	err := h.api.Get(t.Context(), client.ObjectKey{Name: "c0"}, &berthv1alpha1.Cluster{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("the Cluster is still there: %v", err)
	}
}

func TestPins(t *testing.T) {
	pinned := clusters(1)[0].(*berthv1alpha1.Cluster)
	pinned.Spec.HomeScheduler = "b"
	h := newHarness(t, pinned, readyScheduler("a"))
	h.passes(2)
	if got, want := h.reason("c0"), "True PinnedSchedulerNotReady"; got != want {
		t.Errorf("Bound = %q, want %q", got, want)
	}
	h.create(readyScheduler("b"))
	h.passes(1)
	h.acknowledge("a")
	h.passes(2)
	if got := h.homes()["b"]; got != 1 {
		t.Errorf("the cluster is not with the scheduler that it is pinned to: %v", h.homes())
	}
}

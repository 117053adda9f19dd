// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/internal/metricstest"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/placement/movelimit"
)

// oneAtATime allows one replica to be missing.
func oneAtATime(spec *berthv1alpha1.PropagationPolicySpec) {
	spec.Rebalance.MaxUnavailable = new(intstr.FromInt32(1))
}

func refusedByBudget(seconds int) func(*corev1.Pod) error {
	return func(*corev1.Pod) error { return apierrors.NewTooManyRequests("the budget is used up", seconds) }
}

func TestACacheThatLagsBehindCausesNoSecondEviction(t *testing.T) {
	h := newHarness(t, world(sites(), placed(), wrong(oneAtATime, func(spec *berthv1alpha1.PropagationPolicySpec) {
		spec.Rebalance.Cooldown.Duration = 0
	}))...)
	h.pass()
	if diff := cmp.Diff([]string{"web-0"}, h.evicted()); diff != "" {
		t.Fatalf("evicted pods mismatch (-want +got):\n%s", diff)
	}
	// The replacement is there and ready on the server, but the cache still shows the pod that was
	// evicted.
	h.replace("new-0", "beijing-0", 0)
	for range 3 {
		h.wait(time.Second)
		h.pass()
	}
	if got := h.evicted(); len(got) != 0 {
		t.Errorf("%v are evicted on the ground of a cache that lags behind", got)
	}
	h.sync()
	h.pass()
	if diff := cmp.Diff([]string{"web-4"}, h.evicted()); diff != "" {
		t.Errorf("evicted pods mismatch once the cache has caught up (-want +got):\n%s", diff)
	}
}

func TestTheCooldownBeginsWhenTheCacheHasSeenTheEndOfTheRound(t *testing.T) {
	h := newHarness(t, world(sites(), placed(), wrong(oneAtATime))...)
	h.pass()
	h.evicted()
	h.replace("new-0", "beijing-0", 0)
	for range 6 {
		h.wait(10 * time.Second)
		h.pass()
	}
	h.sync()
	h.wait(time.Second)
	h.pass()
	if got := h.evicted(); len(got) != 0 {
		t.Errorf("%v are evicted a second after the round was seen to be over", got)
	}
	h.wait(9 * time.Second)
	h.pass()
	if got := h.evicted(); len(got) != 1 {
		t.Errorf("%v are evicted after the cool-down, want one", got)
	}
}

func TestNextRoundWaitsForReplacementAndCooldown(t *testing.T) {
	h := newHarness(t, world(sites(), placed(), wrong(oneAtATime))...)
	h.pass()
	h.evicted()
	h.sync()
	h.wait(time.Hour)
	h.pass()
	if got := h.evicted(); len(got) != 0 {
		t.Fatalf("%v are evicted before the replacement is there", got)
	}
	h.replace("new-0", "beijing-0", 0)
	h.sync()
	h.wait(time.Second)
	h.pass()
	if got := h.evicted(); len(got) != 0 {
		t.Fatalf("%v are evicted as soon as the replacement is there", got)
	}
	if want := 9 * time.Second; h.last.RequeueAfter != want {
		t.Errorf("the next pass is in %v, want %v", h.last.RequeueAfter, want)
	}
	if got, want := h.condition(berthv1alpha1.PolicyPlaced), "False Rebalancing: moving replicas; outside their share: 1"; got != want {
		t.Errorf("Placed = %q, want %q", got, want)
	}
	h.wait(9 * time.Second)
	h.pass()
	if got := h.evicted(); len(got) != 1 {
		t.Errorf("%v are evicted after the cool-down, want one", got)
	}
}

func TestTheUsersOwnDeletionCostSaysWhoGoes(t *testing.T) {
	h := newHarness(t, world(sites(), placed(), these(newPolicy("p", reweighed(3, 2))))...)
	for name, cost := range map[string]string{"web-0": "5", "web-2": "-50", "web-4": "7"} {
		change(h, webPod(name, "hangzhou-0", 0), annotated(corev1.PodDeletionCost, cost))
	}
	h.sync()
	h.pass()
	if diff := cmp.Diff([]string{"web-2"}, h.evicted()); diff != "" {
		t.Errorf("evicted pods mismatch (-want +got):\n%s", diff)
	}
}

func TestRoundsThatChangeNothingBecomeRare(t *testing.T) {
	h := newHarness(t, world(sites(), placed(), wrong(oneAtATime))...)
	h.pass()
	var pauses []time.Duration
	for round := range 4 {
		evicted := h.evicted()
		if len(evicted) != 1 {
			t.Fatalf("round %d evicts %v", round, evicted)
		}
		// Something brings the pod back to where it was.
		h.replace(fmt.Sprintf("back-%d", round), "hangzhou-0", -1)
		h.sync()
		h.pass()
		began := h.clock.Now()
		for len(h.evictor.evicted) == 0 && h.last.RequeueAfter > 0 {
			h.sync()
			h.wait(h.last.RequeueAfter)
			h.pass()
		}
		pauses = append(pauses, h.clock.Since(began))
	}
	want := []time.Duration{20 * time.Second, 40 * time.Second, 80 * time.Second, 160 * time.Second}
	if diff := cmp.Diff(want, pauses); diff != "" {
		t.Errorf("pauses mismatch (-want +got):\n%s", diff)
	}
}

func TestABudgetThatRefuses(t *testing.T) {
	h := newHarness(t, world(sites(), placed(), wrong())...)
	h.evictor.refuse = refusedByBudget(0)
	before := metricstest.Value(t, "berth_evictions_total", "refused_by_pdb")
	h.pass()
	if got, want := h.condition(berthv1alpha1.PolicyPlaced), misplaced("a PodDisruptionBudget does not let the pods go"); got != want {
		t.Errorf("Placed = %q, want %q", got, want)
	}
	if got := h.events(); len(got) != 1 || !strings.HasPrefix(got[0], "Warning EvictionRefused Pod web-0 of Deployment web cannot be moved") {
		t.Errorf("events = %q", got)
	}
	if got := metricstest.Value(t, "berth_evictions_total", "refused_by_pdb") - before; got != 1 {
		t.Errorf("%v attempts are counted, want one for the workload", got)
	}
	if want := 5 * time.Second; h.last.RequeueAfter != want {
		t.Errorf("the next pass is in %v, want %v", h.last.RequeueAfter, want)
	}
	// Each of the three pods in hangzhou is tried once, then all are left alone for a while.
	for range 5 {
		h.pass()
	}
	if got := metricstest.Value(t, "berth_evictions_total", "refused_by_pdb") - before; got != 3 {
		t.Errorf("%v attempts are counted, want one for each pod", got)
	}
	if got := h.events(); len(got) != 0 {
		t.Errorf("told again: %q", got)
	}
	h.evictor.refuse = nil
	h.wait(5 * time.Second)
	h.pass()
	if diff := cmp.Diff([]string{"web-0", "web-4"}, h.evicted()); diff != "" {
		t.Errorf("evicted pods mismatch once the budget lets them go (-want +got):\n%s", diff)
	}
}

func TestRefusalsBecomeRare(t *testing.T) {
	tests := map[string]struct {
		refuse func(*corev1.Pod) error
		want   []time.Duration
	}{
		"a budget that is used up": {
			refuse: refusedByBudget(0),
			want:   []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second},
		},
		"a server that asks for more": {
			refuse: refusedByBudget(30),
			want:   []time.Duration{30 * time.Second, 60 * time.Second, 120 * time.Second, 240 * time.Second},
		},
		"more than one budget": {
			refuse: func(*corev1.Pod) error {
				return apierrors.NewInternalError(errors.New("pod has more than one PodDisruptionBudget"))
			},
			want: []time.Duration{5 * time.Minute, 5 * time.Minute, 5 * time.Minute, 5 * time.Minute},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			// One pod is too many in hangzhou, and only one may go.
			objects := world(sites(), placed(), these(newPolicy("p", reweighed(3, 2))))
			h := newHarness(t, objects...)
			for _, name := range []string{"web-0", "web-2"} {
				change(h, webPod(name, "hangzhou-0", 0), annotated("cluster-autoscaler.kubernetes.io/safe-to-evict", "false"))
			}
			h.sync()
			attempts := 0
			h.evictor.refuse = func(pod *corev1.Pod) error {
				attempts++
				return tc.refuse(pod)
			}
			h.pass()
			h.sync()
			var pauses []time.Duration
			for range tc.want {
				seen, began := attempts, h.clock.Now()
				for attempts == seen && h.last.RequeueAfter > 0 {
					h.wait(h.last.RequeueAfter)
					h.pass()
				}
				pauses = append(pauses, h.clock.Since(began))
			}
			if diff := cmp.Diff(tc.want, pauses); diff != "" {
				t.Errorf("pauses mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// The Subscription controller divides for what is there once the workload has shrunk. By the shares
// for more replicas other pods would have to go.
func TestNothingMovesBeforeItIsDividedForTheReplicas(t *testing.T) {
	for divided, want := range map[string][]string{"4": nil, "5": {"web-0"}, "*": {"web-0"}, "many": {"web-0"}} {
		t.Run(divided, func(t *testing.T) {
			p := newPolicy("p", reweighed(3, 2))
			p.Annotations = map[string]string{berthv1alpha1.DividedAnnotation: divided}
			h := newHarness(t, world(sites(), placed(), these(p))...)
			h.pass()
			if diff := cmp.Diff(want, h.evicted()); diff != "" {
				t.Errorf("evicted pods (-want +got):\n%s", diff)
			}
			held := strings.Contains(h.condition(berthv1alpha1.PolicyPlaced), "their Subscription has not divided them")
			if held != (want == nil) {
				t.Errorf("Placed = %q", h.condition(berthv1alpha1.PolicyPlaced))
			}
		})
	}
}

// An eviction without an answer may be carried out later, when another pod is gone already.
func TestNobodyGoesForAPodThatMayHaveBeenEvicted(t *testing.T) {
	h := newHarness(t, world(sites(), placed(), these(newPolicy("p", reweighed(3, 2))))...)
	var tried []string
	h.evictor.refuse = func(pod *corev1.Pod) error {
		tried = append(tried, pod.Name)
		return errors.New("no answer")
	}
	for range 10 {
		if _, err := h.Reconcile(t.Context(), namespace); err != nil && !strings.Contains(err.Error(), "no answer") {
			t.Fatal(err)
		}
		h.wait(3 * time.Second)
	}
	if len(tried) < 2 || len(slices.Compact(slices.Clone(tried))) != 1 {
		t.Errorf("evictions of %v are tried, want one pod twice or more often", tried)
	}
	h.evictor.refuse = nil
	for range 20 {
		h.pass()
		h.wait(3 * time.Second)
	}
	if diff := cmp.Diff(tried[:1], h.evicted()); diff != "" {
		t.Errorf("evicted pods (-want +got):\n%s", diff)
	}
}

func TestOutcomesOfAnEviction(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	tests := map[string]struct {
		err       error
		outcome   string
		wantError bool
	}{
		"it works":                        {outcome: "evicted"},
		"the pod is gone":                 {err: apierrors.NewNotFound(pods, "web-4"), outcome: "gone"},
		"another pod has taken its place": {err: apierrors.NewConflict(pods, "web-4", errors.New("UID")), outcome: "gone"},
		"forbidden":                       {err: apierrors.NewForbidden(pods, "web-4", errors.New("no")), outcome: "failed", wantError: true},
		"an internal error":               {err: apierrors.NewInternalError(errors.New("webhook")), outcome: "failed", wantError: true},
		"the server is down":              {err: errors.New("connection refused"), outcome: "failed", wantError: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, world(sites(), placed(), wrong(oneAtATime))...)
			h.evictor.refuse = func(*corev1.Pod) error { return tc.err }
			before := metricstest.Value(t, "berth_evictions_total", tc.outcome)
			if _, err := h.Reconcile(t.Context(), namespace); (err != nil) != tc.wantError {
				t.Errorf("Reconcile() = %v, want an error: %v", err, tc.wantError)
			}
			if got := metricstest.Value(t, "berth_evictions_total", tc.outcome) - before; got != 1 {
				t.Errorf("%v evictions are counted as %s, want 1", got, tc.outcome)
			}
		})
	}
}

// Pods that failed are left alone for a while, which must not be taken for the work of a budget.
func TestEvictionsThatFail(t *testing.T) {
	h := newHarness(t, world(sites(), placed(), wrong())...)
	h.evictor.refuse = func(pod *corev1.Pod) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, pod.Name, errors.New("no"))
	}
	// Each of the three pods in hangzhou is tried once.
	for range 3 {
		if _, err := h.Reconcile(t.Context(), namespace); err == nil {
			t.Error("the pass did not fail")
		}
		h.wait(time.Second)
		h.sync()
	}
	h.pass()
	want := misplaced("evictions of the pods fail, and not because of a PodDisruptionBudget")
	if got := h.condition(berthv1alpha1.PolicyPlaced); got != want {
		t.Errorf("Placed = %q, want %q", got, want)
	}
	if h.last.RequeueAfter == 0 || h.last.RequeueAfter > 5*time.Second {
		t.Errorf("the next pass is in %v, want one when pods may be tried again", h.last.RequeueAfter)
	}
}

func TestTheLimitOfAllMoves(t *testing.T) {
	h := newHarness(t, world(sites(), placed(), wrong(oneAtATime))...)
	h.Moves = state.NewMoves(movelimit.Limits{PerMinute: 6}, h.clock)
	h.Moves.Begin(movelimit.Claim{Key: "another", Pods: 2})
	h.pass()
	if got := h.evicted(); len(got) != 0 {
		t.Errorf("%v are evicted beyond the limit", got)
	}
	if want := 15 * time.Second; h.last.RequeueAfter != want {
		t.Errorf("the next pass is in %v, want %v", h.last.RequeueAfter, want)
	}
	want := "False Misplaced: replicas outside their share: 2 (waiting for --max-moves-per-minute or --max-moves-per-cluster of the controller manager)"
	if got := h.condition("Placed"); got != want {
		t.Errorf("Placed is %s, want %s", got, want)
	}
	h.wait(21 * time.Second)
	h.pass()
	if diff := cmp.Diff([]string{"web-0"}, h.evicted()); diff != "" {
		t.Errorf("evicted pods mismatch when the limit allows it (-want +got):\n%s", diff)
	}
}

func TestTheLimitOfMovesToACluster(t *testing.T) {
	h := newHarness(t, world(sites(), placed(), wrong())...)
	h.Moves = state.NewMoves(movelimit.Limits{PerCluster: 1}, h.clock)
	h.Moves.Begin(movelimit.Claim{Key: "another", Cluster: "beijing"})
	h.pass()
	if got := h.evicted(); len(got) != 0 {
		t.Errorf("%v are evicted beyond the limit", got)
	}
	h.Moves = state.NewMoves(movelimit.Limits{PerCluster: 1}, h.clock)
	h.Moves.Begin(movelimit.Claim{Key: "another", Cluster: "hangzhou"})
	h.pass()
	if got := h.evicted(); len(got) != 1 {
		t.Errorf("%v are evicted although the limit is that of another cluster, want one", got)
	}
}

func TestHeldBackIsToldOnce(t *testing.T) {
	h := newHarness(t, world(sites()[1:], placed(), wrong(), these(newNode("beijing-0", func(n *corev1.Node) {
		n.Spec.Unschedulable = true
	})))...)
	h.settle()
	want := []string{
		"Warning RebalanceHeldBack Pods of Deployment web run outside their share and stay: " +
			"no cluster is short of its share and has room for the pods",
	}
	if diff := cmp.Diff(want, h.events()); diff != "" {
		t.Errorf("events mismatch (-want +got):\n%s", diff)
	}
	for range 3 {
		h.wait(time.Minute)
		h.pass()
	}
	if got := h.events(); len(got) != 0 {
		t.Errorf("told again: %q", got)
	}
	if want := 30 * time.Second; h.last.RequeueAfter != want {
		t.Errorf("room is looked for again in %v, want %v", h.last.RequeueAfter, want)
	}
}

func TestASearchForRoomIsNotRepeatedAtOnce(t *testing.T) {
	h := newHarness(t, world(sites()[1:], placed(), wrong(), these(newNode("beijing-0", func(n *corev1.Node) {
		n.Spec.Unschedulable = true
	})))...)
	h.pass()
	change(h, newNode("beijing-0"), func(n *corev1.Node) { n.Spec.Unschedulable = false })
	h.sync()
	h.wait(4 * time.Second)
	h.pass()
	if got := h.evicted(); len(got) != 0 {
		t.Errorf("room was looked for again after four seconds, and %v evicted", got)
	}
	h.wait(time.Second)
	h.pass()
	if got := h.evicted(); len(got) != 2 {
		t.Errorf("%v are evicted when there is room, want two", got)
	}
}

// twin makes another Deployment, with the same pods, out of the placed one.
func twin(objects []client.Object) []client.Object {
	for _, object := range objects {
		object.SetName("twin-" + object.GetName())
		object.SetUID("twin-" + object.GetUID())
		if owners := object.GetOwnerReferences(); len(owners) > 0 {
			owners[0].Name, owners[0].UID = "twin-"+owners[0].Name, "twin-"+owners[0].UID
		}
		if pod, is := object.(*corev1.Pod); is {
			pod.Annotations[berthv1alpha1.PlacedByAnnotation] = string(pod.UID) + "/" + pod.Spec.NodeName
		}
	}
	return objects
}

func TestWorkloadsOfOnePassDoNotCountOnTheSameRoom(t *testing.T) {
	// Beijing runs four pods and takes a fifth; both Deployments want to move two there.
	h := newHarness(t, world(sites()[1:], placed(), twin(placed()), wrong(selecting(kindOnly("apps/v1", "Deployment"))),
		these(newNode("beijing-0", func(n *corev1.Node) { n.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("5") })))...)
	h.pass()
	if got := h.evicted(); len(got) != 1 {
		t.Errorf("%v are evicted, but there is room for one", got)
	}
}

func (h *harness) remove(name string) {
	h.t.Helper()
	if err := h.server.Delete(h.t.Context(), &corev1.Pod{ObjectMeta: meta(name)}); err != nil {
		h.t.Fatal(err)
	}
}

// nowhereSince makes a pod of which the scheduler has said that it finds no node, since a time.
func nowhereSince(since time.Time) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.CreationTimestamp = metav1.NewTime(since)
		p.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
			LastTransitionTime: metav1.NewTime(since),
		}}
	}
}

// One of five replicas finds no node. Two are in the wrong place, and one may be missing.
func TestAPodThatCanNeverRunDoesNotKeepTheOthers(t *testing.T) {
	objects := world(sites(), placed(), wrong(oneAtATime))
	h := newHarness(t, objects...)
	h.remove("web-1")
	h.create(webPod("never", "", 0, nowhereSince(h.clock.Now())))
	h.sync()
	h.wait(9 * time.Second)
	h.pass()
	if got := h.evicted(); len(got) != 0 {
		t.Fatalf("%v are evicted while a pod may find a node still", got)
	}
	h.wait(time.Minute)
	h.pass()
	if diff := cmp.Diff([]string{"web-0"}, h.evicted()); diff != "" {
		t.Fatalf("evicted pods mismatch once one is stuck (-want +got):\n%s", diff)
	}
	// The replacement finds no node either: nobody else goes, however long that takes.
	h.create(webPod("new-0", "", 0, nowhereSince(h.clock.Now())))
	h.sync()
	for range 3 {
		h.wait(time.Hour)
		h.pass()
	}
	if got := h.evicted(); len(got) != 0 {
		t.Fatalf("%v are evicted although a replacement found no node", got)
	}
	h.remove("new-0")
	h.replace("new-0", "beijing-0", 0)
	h.sync()
	h.pass()
	h.wait(time.Minute)
	h.pass()
	if diff := cmp.Diff([]string{"web-4"}, h.evicted()); diff != "" {
		t.Errorf("evicted pods mismatch in the next round (-want +got):\n%s", diff)
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/cluster"
	"berth.dev/berth/pkg/controllers/internal/schemetest"
	"berth.dev/berth/pkg/controllers/internal/singleton"
	"berth.dev/berth/pkg/controllers/state"
)

// harness runs the reconciler on a fake API server.
type harness struct {
	t       *testing.T
	api     client.Client
	tracker *state.Tracker
	cluster.Reconciler
	writes []string
	// fail makes a write fail.
	fail func(name string) error
}

func newHarness(t *testing.T, objects ...client.Object) *harness {
	t.Helper()
	scheme := schemetest.New()
	h := &harness{t: t}
	h.api = fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&berthv1alpha1.Cluster{}).WithObjects(objects...).
		WithInterceptorFuncs(interceptor.Funcs{
			SubResourcePatch: func(
				ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption,
			) error {
				h.writes = append(h.writes, o.GetName())
				if h.fail != nil {
					if err := h.fail(o.GetName()); err != nil {
						return err
					}
				}
				return c.SubResource(sub).Patch(ctx, o, p, opts...)
			},
		}).Build()
	h.tracker = state.NewTracker(h.api)
	h.Reconciler = cluster.Reconciler{Client: h.api, Topology: h.tracker, Clock: clock.RealClock{}}
	return h
}

// pass makes one pass over what the API server has.
func (h *harness) pass() (requeue time.Duration, err error) {
	h.t.Helper()
	h.tracker.Invalidate()
	h.writes = nil
	result, err := h.Reconcile(h.t.Context(), singleton.Key{})
	return result.RequeueAfter, err
}

func (h *harness) get(name string) *berthv1alpha1.Cluster {
	h.t.Helper()
	c := &berthv1alpha1.Cluster{}
	if err := h.api.Get(h.t.Context(), client.ObjectKey{Name: name}, c); err != nil {
		h.t.Fatal(err)
	}
	return c
}

// condition returns "Status Reason: message".
func (h *harness) condition(name, conditionType string) string {
	h.t.Helper()
	c := apimeta.FindStatusCondition(h.get(name).Status.Conditions, conditionType)
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
}

func newCluster(name string, nodes ...string) *berthv1alpha1.Cluster {
	return &berthv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1}, Spec: berthv1alpha1.ClusterSpec{Nodes: nodes},
	}
}

func newNode(name string, ready corev1.ConditionStatus) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}},
	}
}

func TestConditions(t *testing.T) {
	tests := map[string]struct {
		objects        []client.Object
		wantReady      string
		wantConflicted string
	}{
		"some nodes are ready": {
			objects: []client.Object{
				newCluster("a", "n", "m"), newNode("n", corev1.ConditionTrue), newNode("m", corev1.ConditionUnknown),
			},
			wantReady:      "True NodesReady: 1 of 2 nodes are ready and schedulable",
			wantConflicted: "False NoConflict: no other cluster holds a node that this one claims",
		},
		"no node is ready": {
			objects:        []client.Object{newCluster("a", "n"), newNode("n", corev1.ConditionFalse)},
			wantReady:      "False NoReadyNodes: no node of the cluster is ready and schedulable",
			wantConflicted: "False NoConflict: no other cluster holds a node that this one claims",
		},
		"the nodes do not exist": {
			objects:        []client.Object{newCluster("a", "n")},
			wantReady:      "False NoNodes: no existing node is named in spec.nodes or carries the labels of spec.matchLabels",
			wantConflicted: "False NoConflict: no other cluster holds a node that this one claims",
		},
		"nothing is selected": {
			objects:        []client.Object{newCluster("a"), newNode("n", corev1.ConditionTrue)},
			wantReady:      "False NoNodes: spec.nodes and spec.matchLabels are both empty, which selects no node",
			wantConflicted: "False NoConflict: no other cluster holds a node that this one claims",
		},
		"another cluster holds all nodes": {
			objects: []client.Object{
				newCluster("a", "n"), newCluster("A-first-by-name", "n"), newNode("n", corev1.ConditionTrue),
			},
			wantReady:      "False NoNodes: all nodes that the cluster claims belong to other clusters",
			wantConflicted: "True NodesHeldByOthers: node n belongs to cluster A-first-by-name",
		},
		"other clusters hold many nodes": {
			objects: []client.Object{
				newCluster("a", "1", "2", "3", "4", "5", "6", "7", "8"), newCluster("A1", "1", "2", "3"), newCluster("A2", "4", "5", "6", "7"),
				newNode("1", corev1.ConditionTrue), newNode("2", corev1.ConditionTrue), newNode("3", corev1.ConditionTrue),
				newNode("4", corev1.ConditionTrue), newNode("5", corev1.ConditionTrue), newNode("6", corev1.ConditionTrue),
				newNode("7", corev1.ConditionTrue), newNode("8", corev1.ConditionTrue),
			},
			wantReady: "True NodesReady: 1 of 1 nodes are ready and schedulable",
			wantConflicted: "True NodesHeldByOthers: node 1 belongs to cluster A1, node 2 belongs to cluster A1, node 3 belongs to cluster A1, " +
				"node 4 belongs to cluster A2, node 5 belongs to cluster A2, and 2 more",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, tc.objects...)
			if _, err := h.pass(); err != nil {
				t.Fatal(err)
			}
			if got := h.condition("a", berthv1alpha1.ClusterReady); got != tc.wantReady {
				t.Errorf("Ready = %q, want %q", got, tc.wantReady)
			}
			if got := h.condition("a", berthv1alpha1.ClusterConflicted); got != tc.wantConflicted {
				t.Errorf("Conflicted = %q, want %q", got, tc.wantConflicted)
			}
		})
	}
}

func TestNodesInStatus(t *testing.T) {
	h := newHarness(t, newCluster("a", "z", "y", "absent"), newNode("z", corev1.ConditionTrue), newNode("y", corev1.ConditionFalse))
	if _, err := h.pass(); err != nil {
		t.Fatal(err)
	}
	status := h.get("a").Status
	status.Conditions = nil
	want := berthv1alpha1.ClusterStatus{
		ObservedGeneration: 1, ContainedNodes: []string{"y", "z"}, NodeCount: 2, ReadyNodeCount: 1,
	}
	if diff := cmp.Diff(want, status); diff != "" {
		t.Errorf("status mismatch (-want +got):\n%s", diff)
	}
}

func TestTheListOfNodesIsBounded(t *testing.T) {
	c := &berthv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: berthv1alpha1.ClusterSpec{MatchLabels: map[string]string{"site": "a"}},
	}
	objects := []client.Object{c}
	for i := range 5003 {
		node := newNode(fmt.Sprintf("n%04d", i), corev1.ConditionTrue)
		node.Labels = c.Spec.MatchLabels
		objects = append(objects, node)
	}
	h := newHarness(t, objects...)
	if _, err := h.pass(); err != nil {
		t.Fatal(err)
	}
	status := h.get("a").Status
	if len(status.ContainedNodes) != 5000 || status.NodeCount != 5003 || status.ReadyNodeCount != 5003 {
		t.Errorf("%d nodes listed of %d, %d ready", len(status.ContainedNodes), status.NodeCount, status.ReadyNodeCount)
	}
	if last := status.ContainedNodes[4999]; last != "n4999" {
		t.Errorf("the last node listed is %s, want the first ones by name", last)
	}
}

func TestConditionsOfOthersStay(t *testing.T) {
	c := newCluster("a", "n")
	online := metav1.Condition{Type: "Online", Status: metav1.ConditionTrue, Reason: "Reached", LastTransitionTime: metav1.NewTime(time.Unix(1, 0))}
	c.Status.Conditions = []metav1.Condition{online}
	h := newHarness(t, c, newNode("n", corev1.ConditionTrue))
	if _, err := h.pass(); err != nil {
		t.Fatal(err)
	}
	got := h.get("a").Status.Conditions
	if len(got) != 3 || got[0].Type != "Online" || got[0].Reason != "Reached" {
		t.Errorf("conditions = %+v", got)
	}
}

func TestOnlyWhatHasChangedIsWritten(t *testing.T) {
	h := newHarness(t, newCluster("a", "n"), newCluster("b", "m"), newNode("n", corev1.ConditionTrue), newNode("m", corev1.ConditionTrue))
	for i, want := range [][]string{{"a", "b"}, nil, nil} {
		if _, err := h.pass(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, h.writes); diff != "" {
			t.Errorf("writes of pass %d mismatch (-want +got):\n%s", i, diff)
		}
	}
	if err := h.api.Delete(t.Context(), newNode("m", corev1.ConditionTrue)); err != nil {
		t.Fatal(err)
	}
	if _, err := h.pass(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b"}, h.writes); diff != "" {
		t.Errorf("writes after the node m has gone mismatch (-want +got):\n%s", diff)
	}
}

func TestEveryClusterThatClaimsAFreedNodeIsUpdated(t *testing.T) {
	h := newHarness(t, newCluster("a", "n"), newCluster("b", "n"), newCluster("c", "n"), newNode("n", corev1.ConditionTrue))
	if _, err := h.pass(); err != nil {
		t.Fatal(err)
	}
	if err := h.api.Delete(t.Context(), h.get("a")); err != nil {
		t.Fatal(err)
	}
	if _, err := h.pass(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"b": "False NoConflict: no other cluster holds a node that this one claims",
		"c": "True NodesHeldByOthers: node n belongs to cluster b",
	} {
		if got := h.condition(name, berthv1alpha1.ClusterConflicted); got != want {
			t.Errorf("Conflicted of %s = %q, want %q", name, got, want)
		}
	}
}

func TestFailures(t *testing.T) {
	conflict := apierrors.NewConflict(berthv1alpha1.SchemeGroupVersion.WithResource("clusters").GroupResource(), "a", errors.New("changed"))
	gone := apierrors.NewNotFound(berthv1alpha1.SchemeGroupVersion.WithResource("clusters").GroupResource(), "a")
	tests := map[string]struct {
		err         error
		wantError   string
		wantRequeue bool
	}{
		"somebody else wrote in between": {err: conflict, wantRequeue: true},
		"the cluster is gone":            {err: gone},
		"the server is down":             {err: errors.New("refused"), wantError: "writing the status of cluster a: refused"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, newCluster("a", "n"), newCluster("b", "m"))
			h.fail = func(name string) error {
				if name == "a" {
					return tc.err
				}
				return nil
			}
			requeue, err := h.pass()
			if (err == nil) != (tc.wantError == "") || err != nil && !strings.Contains(err.Error(), tc.wantError) {
				t.Errorf("Reconcile() = %v, want %q", err, tc.wantError)
			}
			if (requeue > 0) != tc.wantRequeue {
				t.Errorf("the next pass is in %v", requeue)
			}
			if got := h.get("b").Status.ObservedGeneration; got != 1 {
				t.Error("the other cluster is not written")
			}
		})
	}
}

func TestAConditionThatSomebodyWritesInBetweenIsNotLost(t *testing.T) {
	h := newHarness(t, newCluster("a", "n"), newNode("n", corev1.ConditionTrue))
	h.fail = func(string) error {
		h.fail = nil
		c := h.get("a")
		c.Status.Conditions = []metav1.Condition{{Type: "Online", Status: metav1.ConditionTrue, Reason: "Reached"}}
		return h.api.Status().Update(t.Context(), c)
	}
	if requeue, err := h.pass(); err != nil || requeue == 0 {
		t.Fatalf("Reconcile() = %v, %v, want another pass soon", requeue, err)
	}
	if _, err := h.pass(); err != nil {
		t.Fatal(err)
	}
	if got := h.get("a").Status.Conditions; len(got) != 3 {
		t.Errorf("conditions = %+v, want Online and the two of this controller", got)
	}
}

func TestAStatusOfAnotherSpecIsNotWritten(t *testing.T) {
	h := newHarness(t, newCluster("a", "n"), newNode("n", corev1.ConditionTrue))
	if _, err := h.tracker.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := h.get("a")
	c.Generation, c.Spec.Nodes = 2, nil
	if err := h.api.Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Reconcile(t.Context(), singleton.Key{}); err != nil {
		t.Fatal(err)
	}
	if len(h.writes) != 0 {
		t.Errorf("%v are written from a snapshot of the old spec", h.writes)
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package state_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/internal/schemetest"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/plugintest"
)

// readyNode is the node "n".
func readyNode() corev1.Node {
	return corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n"},
		Status: corev1.NodeStatus{
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
}

func TestTrackerLooksAgainOnlyWhenToldTo(t *testing.T) {
	scheme := schemetest.New()
	lists := 0
	a := berthv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: berthv1alpha1.ClusterSpec{Nodes: []string{"n"}},
	}
	api := fake.NewClientBuilder().WithScheme(scheme).WithObjects(&a).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			lists++
			return c.List(ctx, list, options...)
		},
	}).Build()
	ctx := t.Context()
	tracker := state.NewTracker(api)
	snapshot := func() *topology.Snapshot {
		t.Helper()
		s, err := tracker.Snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := snapshot()
	if n := readyNode(); api.Create(ctx, &n) != nil {
		t.Fatal("cannot create the node")
	}
	if second := snapshot(); second != first || lists != 2 {
		t.Errorf("the tracker looked again, after %d lists", lists)
	}
	tracker.Invalidate()
	if third := snapshot(); third.Cluster("a").ReadyNodes != 1 {
		t.Errorf("the tracker did not look again")
	}
}

// A cache waits for its first list when it is asked for a kind for the first time. Handlers must
// not wait for that: the list may wait for what they have been given.
func TestTrackerIsToldOfChangesWhileItLooks(t *testing.T) {
	scheme := schemetest.New()
	node := readyNode()
	var tracker *state.Tracker
	var during func(c client.WithWatch)
	lists := 0
	api := fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		&node, &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: berthv1alpha1.ClusterSpec{Nodes: []string{"n"}}},
	).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			err := c.List(ctx, list, options...)
			if _, isNodes := list.(*corev1.NodeList); isNodes && during != nil {
				during(c)
			}
			lists++
			return err
		},
	}).Build()
	tracker = state.NewTracker(api)
	during = func(c client.WithWatch) {
		during = nil
		if err := c.Delete(t.Context(), &node); err != nil {
			t.Error(err)
		}
		plugintest.EndsSoon(t, tracker.Invalidate)
	}
	for _, want := range []int{1, 0} {
		if s, err := tracker.Snapshot(t.Context()); err != nil || s.Cluster("a").ReadyNodes != want {
			t.Errorf("the snapshot has %v, want %d ready nodes; error %v", s, want, err)
		}
	}
	if lists != 4 {
		t.Errorf("there were %d lists, want 4", lists)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tracker.Snapshot(ended); err != nil {
		t.Errorf("what is known is not returned: %v", err)
	}
}

func TestNodeChanges(t *testing.T) {
	heartbeat := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	tests := map[string]struct {
		change func(*corev1.Node)
		want   bool
	}{
		"a heartbeat": {change: func(n *corev1.Node) {
			n.ResourceVersion = "2"
			n.Status.Conditions[0].LastHeartbeatTime = heartbeat
			n.Status.Images = []corev1.ContainerImage{{SizeBytes: 1}}
		}},
		"no longer ready": {change: func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown }, want: true},
		"cordoned":        {change: func(n *corev1.Node) { n.Spec.Unschedulable = true }, want: true},
		"another label":   {change: func(n *corev1.Node) { n.Labels = map[string]string{"a": "b"} }, want: true},
		"a taint":         {change: func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: "k"}} }, want: true},
		"another node":    {change: func(n *corev1.Node) { n.UID = "new" }, want: true},
		"another capacity": {change: func(n *corev1.Node) {
			n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
		}, want: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before := readyNode()
			after := before.DeepCopy()
			tc.change(after)
			if got := state.NodeChanges().Update(event.TypedUpdateEvent[*corev1.Node]{ObjectOld: &before, ObjectNew: after}); got != tc.want {
				t.Errorf("passes = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestClusterChanges(t *testing.T) {
	before := berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	status := before.DeepCopy()
	status.Status.NodeCount = 1
	spec := before.DeepCopy()
	spec.Generation = 2
	for name, tc := range map[string]struct {
		after *berthv1alpha1.Cluster
		want  bool
	}{"status": {after: status}, "spec": {after: spec, want: true}} {
		e := event.TypedUpdateEvent[*berthv1alpha1.Cluster]{ObjectOld: &before, ObjectNew: tc.after}
		if got := state.ClusterChanges().Update(e); got != tc.want {
			t.Errorf("a change of the %s passes = %v, want %v", name, got, tc.want)
		}
	}
}

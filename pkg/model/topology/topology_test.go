// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package topology_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/topology"
)

// cluster makes a Cluster; a smaller age is a younger one.
func cluster(name string, age time.Duration, spec berthv1alpha1.ClusterSpec) berthv1alpha1.Cluster {
	created := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(-age))
	return berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: created}, Spec: spec}
}

// node makes a node that is ready.
func node(name string, labels map[string]string, changes ...func(*corev1.Node)) corev1.Node {
	n := corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Status: corev1.NodeStatus{
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
	for _, change := range changes {
		change(&n)
	}
	return n
}

func cordoned(n *corev1.Node) { n.Spec.Unschedulable = true }

func notReady(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown }

func silent(n *corev1.Node) { n.Status.Conditions = nil }

// summary is what a test compares of a Cluster.
type summary struct {
	Nodes []string
	Ready int
	Lost  []topology.Loss
}

func TestNew(t *testing.T) {
	site := func(name string) map[string]string { return map[string]string{"site": name} }
	tests := map[string]struct {
		clusters []berthv1alpha1.Cluster
		nodes    []corev1.Node
		want     map[string]summary
	}{
		"nodes by name and by label, sorted": {
			clusters: []berthv1alpha1.Cluster{
				cluster("a", 0, berthv1alpha1.ClusterSpec{Nodes: []string{"z", "absent"}, MatchLabels: site("a")}),
			},
			nodes: []corev1.Node{node("z", nil), node("y", site("a")), node("x", site("b"))},
			want:  map[string]summary{"a": {Nodes: []string{"y", "z"}, Ready: 2}},
		},
		"nodes that take no pods belong but are not counted as ready": {
			clusters: []berthv1alpha1.Cluster{cluster("a", 0, berthv1alpha1.ClusterSpec{MatchLabels: site("a")})},
			nodes: []corev1.Node{
				node("1", site("a"), cordoned), node("2", site("a"), notReady), node("3", site("a"), silent), node("4", site("a")),
			},
			want: map[string]summary{"a": {Nodes: []string{"1", "2", "3", "4"}, Ready: 1}},
		},
		"every cluster that loses a node is told who holds it": {
			clusters: []berthv1alpha1.Cluster{
				cluster("named", 0, berthv1alpha1.ClusterSpec{Nodes: []string{"n"}}),
				cluster("old", 2*time.Hour, berthv1alpha1.ClusterSpec{MatchLabels: site("a")}),
				cluster("young", time.Hour, berthv1alpha1.ClusterSpec{MatchLabels: site("a")}),
			},
			nodes: []corev1.Node{node("n", site("a")), node("m", site("a"))},
			want: map[string]summary{
				"named": {Nodes: []string{"n"}, Ready: 1},
				"old":   {Nodes: []string{"m"}, Ready: 1, Lost: []topology.Loss{{Node: "n", Holder: "named"}}},
				"young": {Lost: []topology.Loss{{Node: "m", Holder: "old"}, {Node: "n", Holder: "named"}}},
			},
		},
		"a cluster that claims a node twice does not lose it to itself": {
			clusters: []berthv1alpha1.Cluster{
				cluster("a", 0, berthv1alpha1.ClusterSpec{Nodes: []string{"n"}, MatchLabels: site("a")}),
			},
			nodes: []corev1.Node{node("n", site("a"))},
			want:  map[string]summary{"a": {Nodes: []string{"n"}, Ready: 1}},
		},
		"no selector, no node": {
			clusters: []berthv1alpha1.Cluster{cluster("a", 0, berthv1alpha1.ClusterSpec{})},
			nodes:    []corev1.Node{node("n", nil)},
			want:     map[string]summary{"a": {}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := map[string]summary{}
			for name, c := range topology.New(tc.clusters, tc.nodes).Clusters() {
				s := summary{Ready: c.ReadyNodes, Lost: c.Lost}
				for _, n := range c.Nodes {
					s.Nodes = append(s.Nodes, n.Name)
				}
				got[name] = s
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("clusters mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlace(t *testing.T) {
	s := topology.New(
		[]berthv1alpha1.Cluster{cluster("a", 0, berthv1alpha1.ClusterSpec{Nodes: []string{"in"}})},
		[]corev1.Node{node("in", nil), node("out", nil)},
	)
	for name, want := range map[string]string{"in": "a", "out": ""} {
		if n, got := s.Place(name); n == nil || n.Name != name || got != want {
			t.Errorf("Place(%s) = %v, %q, want the node and %q", name, n, got, want)
		}
	}
	if n, got := s.Place("absent"); n != nil || got != "" {
		t.Errorf("Place of a node that does not exist = %v, %q", n, got)
	}
	var names []string
	for _, n := range s.Nodes() {
		names = append(names, n.Name)
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{"in", "out"}, names); diff != "" {
		t.Errorf("Nodes() mismatch (-want +got):\n%s", diff)
	}
	if s.Cluster("absent") != nil {
		t.Error("there is a cluster that does not exist")
	}
}

func TestClusterOf(t *testing.T) {
	s := topology.New(
		[]berthv1alpha1.Cluster{cluster("a", 0, berthv1alpha1.ClusterSpec{Nodes: []string{"in"}})},
		[]corev1.Node{node("in", nil), node("out", nil)},
	)
	tests := map[string]struct {
		node    string
		stamped bool
		want    string
	}{
		"a node of a cluster":                       {node: "in", stamped: true, want: "a"},
		"a node of none":                            {node: "out", stamped: true, want: ""},
		"a node that is not known":                  {node: "absent", stamped: true, want: "b"},
		"a node that is not known, without a stamp": {node: "absent", want: ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "pod"}, Spec: corev1.PodSpec{NodeName: tc.node}}
			if tc.stamped {
				pod.Annotations = stamp.Stamp{Policy: "p", Cluster: "b", Seat: stamp.NoSeat}.Annotations(pod, tc.node)
			}
			if got := s.ClusterOf(pod); got != tc.want {
				t.Errorf("ClusterOf() = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestTrackerLooksAgainOnlyWhenToldTo(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, berthv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	lists := 0
	a := cluster("a", 0, berthv1alpha1.ClusterSpec{Nodes: []string{"n"}})
	api := fake.NewClientBuilder().WithScheme(scheme).WithObjects(&a).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			lists++
			return c.List(ctx, list, options...)
		},
	}).Build()
	ctx := t.Context()
	tracker := state.NewTracker(api)
	look := func() *topology.Snapshot {
		t.Helper()
		s, err := tracker.Snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := look()
	if n := node("n", nil); api.Create(ctx, &n) != nil {
		t.Fatal("cannot create the node")
	}
	if second := look(); second != first || lists != 2 {
		t.Errorf("the tracker looked again, after %d lists", lists)
	}
	tracker.Invalidate()
	if third := look(); third.Cluster("a").ReadyNodes != 1 {
		t.Errorf("the tracker did not look again")
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
		"no longer ready": {change: notReady, want: true},
		"cordoned":        {change: cordoned, want: true},
		"another label":   {change: func(n *corev1.Node) { n.Labels = map[string]string{"a": "b"} }, want: true},
		"a taint":         {change: func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: "k"}} }, want: true},
		"another node":    {change: func(n *corev1.Node) { n.UID = "new" }, want: true},
		"another capacity": {change: func(n *corev1.Node) {
			n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
		}, want: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before := node("n", nil)
			after := before.DeepCopy()
			tc.change(after)
			if got := state.NodeChanges().Update(event.TypedUpdateEvent[*corev1.Node]{ObjectOld: &before, ObjectNew: after}); got != tc.want {
				t.Errorf("passes = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestClusterChanges(t *testing.T) {
	before := cluster("a", 0, berthv1alpha1.ClusterSpec{})
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

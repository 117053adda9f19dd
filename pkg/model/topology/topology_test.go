// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package topology_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
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

// A pod that was placed in cluster b, or in a, runs on a node of a snapshot that has only a.
func TestClusterOfBehind(t *testing.T) {
	s := topology.New(
		[]berthv1alpha1.Cluster{cluster("a", 0, berthv1alpha1.ClusterSpec{Nodes: []string{"in"}})},
		[]corev1.Node{node("in", nil), node("out", nil)},
	)
	tests := map[string]struct {
		node      string
		placedIn  string
		exists    bool
		want      string
		wantAsked bool
	}{
		"placed where its node is":                          {node: "in", placedIn: "a", want: "a"},
		"its node has moved to a known cluster":             {node: "in", placedIn: "b", want: "a", wantAsked: true},
		"its node has not moved, the cluster is new":        {node: "in", placedIn: "b", exists: true, want: "b", wantAsked: true},
		"its node has left a known cluster":                 {node: "out", placedIn: "a", exists: true, want: ""},
		"its node is in none, the cluster is gone":          {node: "out", placedIn: "b", want: "", wantAsked: true},
		"its node is in none, the cluster is new":           {node: "out", placedIn: "b", exists: true, want: "b", wantAsked: true},
		"nothing is known: as placed, without a lookup":     {node: "absent", placedIn: "b", want: "b"},
		"placed in no cluster":                              {node: "in", want: "a"},
		"placed in no cluster, on a node that is not there": {node: "absent", want: ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "pod"}, Spec: corev1.PodSpec{NodeName: tc.node}}
			pod.Annotations = stamp.Stamp{Policy: "p", Cluster: tc.placedIn, Seat: stamp.NoSeat}.Annotations(pod, tc.node)
			asked := false
			got := s.ClusterOfBehind(pod, func(string) bool { asked = true; return tc.exists })
			if got != tc.want || asked != tc.wantAsked {
				t.Errorf("cluster %q, asked %t; want %q, %t", got, asked, tc.want, tc.wantAsked)
			}
		})
	}
}

func TestWhetherAClusterTakesPods(t *testing.T) {
	site := map[string]string{"site": "a"}
	tests := map[string]struct {
		nodes         []corev1.Node
		cordoned      bool
		wantRuns      bool
		wantTakesPods bool
	}{
		"no node":                        {},
		"a node that is cordoned":        {nodes: []corev1.Node{node("1", site, cordoned)}},
		"a node that is not ready":       {nodes: []corev1.Node{node("1", site, notReady)}},
		"one that is, of two":            {nodes: []corev1.Node{node("1", site, notReady), node("2", site)}, wantRuns: true, wantTakesPods: true},
		"it is cordoned as a whole":      {nodes: []corev1.Node{node("1", site)}, cordoned: true, wantRuns: true},
		"it is cordoned and has no node": {cordoned: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			spec := berthv1alpha1.ClusterSpec{MatchLabels: site, Unschedulable: tc.cordoned}
			c := topology.New([]berthv1alpha1.Cluster{cluster("a", 0, spec)}, tc.nodes).Cluster("a")
			if got := c.Runs(); got != tc.wantRuns {
				t.Errorf("Runs() = %t, want %t", got, tc.wantRuns)
			}
			if got := c.TakesPods(); got != tc.wantTakesPods {
				t.Errorf("TakesPods() = %t, want %t", got, tc.wantTakesPods)
			}
		})
	}
	t.Run("it does not exist", func(t *testing.T) {
		c := topology.New(nil, nil).Cluster("a")
		if c.Runs() || c.TakesPods() {
			t.Errorf("Runs() = %t, TakesPods() = %t, want neither", c.Runs(), c.TakesPods())
		}
	})
}

// A node tells of its disk and memory, too.
func TestANodeIsReadyIfItSaysSo(t *testing.T) {
	pressed := func(n *corev1.Node) {
		pressure := corev1.NodeCondition{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue}
		n.Status.Conditions = append([]corev1.NodeCondition{pressure}, n.Status.Conditions...)
	}
	tests := map[string]struct {
		node corev1.Node
		want bool
	}{
		"it is ready":                           {node: node("n", nil), want: true},
		"it is cordoned, and ready":             {node: node("n", nil, cordoned), want: true},
		"it is not ready":                       {node: node("n", nil, notReady)},
		"it says nothing":                       {node: node("n", nil, silent)},
		"it is ready, and its disk is full":     {node: node("n", nil, pressed), want: true},
		"it is not ready, and its disk is full": {node: node("n", nil, notReady, pressed)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := topology.Ready(&tc.node); got != tc.want {
				t.Errorf("Ready() = %t, want %t", got, tc.want)
			}
		})
	}
}

func TestTheHomeOfAClusterIsWhereItGoes(t *testing.T) {
	tests := map[string]struct {
		status berthv1alpha1.ClusterStatus
		want   string
	}{
		"it has none": {},
		"it stays":    {status: berthv1alpha1.ClusterStatus{HomeScheduler: "old"}, want: "old"},
		"it goes to another": {
			status: berthv1alpha1.ClusterStatus{HomeScheduler: "old", HomeTransfer: &berthv1alpha1.HomeTransfer{To: "new"}}, want: "new",
		},
		"it is taken from its home": {
			status: berthv1alpha1.ClusterStatus{HomeScheduler: "old", HomeTransfer: &berthv1alpha1.HomeTransfer{}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := cluster("a", 0, berthv1alpha1.ClusterSpec{})
			c.Status = tc.status
			if got := topology.New([]berthv1alpha1.Cluster{c}, nil).Cluster("a").Home(); got != tc.want {
				t.Errorf("Home() = %q, want %q", got, tc.want)
			}
		})
	}
}

// The placement of policies sees the same Clusters.
func TestSites(t *testing.T) {
	s := topology.New([]berthv1alpha1.Cluster{
		cluster("b", 0, berthv1alpha1.ClusterSpec{}), cluster("a", 0, berthv1alpha1.ClusterSpec{Unschedulable: true}),
	}, nil)
	names := s.Sites().Named(func(string) bool { return true })
	if diff := cmp.Diff([]string{"a", "b"}, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]bool{"a": true}, s.Sites().Cordoned()); diff != "" {
		t.Errorf("cordoned (-want +got):\n%s", diff)
	}
}

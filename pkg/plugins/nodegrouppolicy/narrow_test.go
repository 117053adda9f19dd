// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"berth.dev/berth/pkg/plugins/nodegrouppolicy"
	"berth.dev/berth/pkg/plugintest"
)

// newManySites returns a scheduler with ten sites of two nodes each.
func newManySites(t *testing.T, objects ...runtime.Object) *plugintest.Scheduler {
	t.Helper()
	var names []string
	for i := range 10 {
		names = append(names, fmt.Sprintf("site%d", i))
	}
	return plugintest.New(t, append(plugintest.Sites(2, names...), objects...))
}

// named returns the nodes that PreFilter names, none if it leaves it to Filter.
func named(t *testing.T, s *plugintest.Scheduler, pod *corev1.Pod) []string {
	t.Helper()
	s.Try(plugintest.MakePod("bystander").Obj()) // brings the snapshot up to date
	nodes, err := s.Framework.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		t.Fatal(err)
	}
	plugin := find[*nodegrouppolicy.NodeGroupPolicy](t, s)
	result, status := plugin.PreFilter(s.Context(), framework.NewCycleState(), pod, nodes)
	if !status.IsSuccess() {
		t.Fatalf("PreFilter: %v", status)
	}
	if result.AllNodes() {
		return nil
	}
	return sets.List(result.NodeNames)
}

func TestPreFilterNamesTheNodesOfFewClusters(t *testing.T) {
	tests := map[string]struct {
		policy   *plugintest.PolicyWrapper
		replicas int32
		bound    []string // nodes of siblings
		want     []string
	}{
		"two clusters of ten": {
			policy: plugintest.MakePolicy("web").Deployment("nginx").Weight(1, "site3", "site7"),
			want:   []string{"site3-0", "site3-1", "site7-0", "site7-1"},
		},
		"a cluster that has its share": {
			policy: plugintest.MakePolicy("web").Deployment("nginx").Weight(1, "site3", "site7"),
			bound:  []string{"site3-0"},
			want:   []string{"site7-0", "site7-1"},
		},
		"all clusters have their share: Filter gives the reasons": {
			policy: plugintest.MakePolicy("web").Deployment("nginx").Weight(1, "site3", "site7"),
			bound:  []string{"site3-0", "site7-0"},
		},
		"so many nodes that naming them costs more": {
			policy:   plugintest.MakePolicy("web").Deployment("nginx").Weight(1, "site1", "site2", "site3"),
			replicas: 3,
		},
		"beyond the shares": {
			policy: plugintest.MakePolicy("web").Deployment("nginx").Weight(1, "site3", "site7").Anyway(),
			bound:  []string{"site3-0", "site7-0"},
			want:   []string{"site3-0", "site3-1", "site7-0", "site7-1"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d, rs := deployment("nginx", max(tc.replicas, 2))
			s := newManySites(t, tc.policy.Obj(), d, rs)
			for i, node := range tc.bound {
				s.Add(plugintest.MakePodOf(rs, i).Node(node).Obj())
			}
			got := named(t, s, plugintest.MakePodOf(rs, 9).Obj())
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("named nodes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNamedNodesFollowNodesAndTheirLabels(t *testing.T) {
	d, rs := deployment("nginx", 2)
	policy := plugintest.MakePolicy("web").Deployment("nginx").Weight(1, "site3")
	s := newManySites(t, policy.Obj(), d, rs)
	pod := plugintest.MakePodOf(rs, 0).Obj()
	step := func(what string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, named(t, s, pod)); diff != "" {
			t.Errorf("%s: named nodes (-want +got):\n%s", what, diff)
		}
	}
	step("at first", "site3-0", "site3-1")
	third := plugintest.MakeNode("site3", 2).Obj()
	s.Add(third)
	step("a node comes", "site3-0", "site3-1", "site3-2")
	third = plugintest.Update(s, third, func(n *corev1.Node) { n.Labels[plugintest.SiteLabel] = "site4" })
	step("it moves to another cluster", "site3-0", "site3-1")
	s.Remove(third, plugintest.MakeNode("site3", 1).Obj())
	step("nodes go", "site3-0")
}

func TestReasonsAreThoseOfFilterAlsoForNodesThatItNeverSaw(t *testing.T) {
	d, rs := deployment("nginx", 2)
	policy := plugintest.MakePolicy("web").Deployment("nginx").Weight(1, "site3", "site7")
	s := newManySites(t, policy.Obj(), d, rs)
	s.Add(plugintest.MakePodOf(rs, 0).Node("site3-0").Obj())
	pod := plugintest.MakePodOf(rs, 1).Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "33"}).Obj()
	if got := named(t, s, pod); len(got) != 2 {
		t.Fatalf("PreFilter names %v, want the nodes of site7", got)
	}
	const want = "0/20 nodes are available: 16 node(s) in no cluster of the policy, 2 Insufficient cpu, " +
		"2 node(s) in clusters that have their share of replicas."
	if got := s.Try(pod).Why(); got != want {
		t.Errorf("the user is told\n%s\nwant\n%s", got, want)
	}
}

func TestNominationOfAnotherClusterIsNotFollowed(t *testing.T) {
	d, rs := deployment("nginx", 2)
	s := newManySites(t, plugintest.MakePolicy("web").Deployment("nginx").Weight(1, "site3").Obj(), d, rs)
	// The framework asks Filter about a nominated node, whether PreFilter named it or not.
	attempt := s.Try(plugintest.MakePodOf(rs, 0).NominatedNodeName("site8-0").Obj())
	if got := plugintest.SiteOf(attempt.Node); got != "site3" {
		t.Errorf("the pod went to %q, want site3", attempt.Node)
	}
}

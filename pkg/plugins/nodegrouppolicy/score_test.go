// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"berth.dev/berth/pkg/plugins/nodegrouppolicy"
	"berth.dev/berth/pkg/plugintest"
)

// scoresOf returns the scores of the plugin, before its weight, for all nodes that its filter
// admits; nil if it gives none.
func scoresOf(t *testing.T, s *plugintest.Scheduler, pod *corev1.Pod) map[string]int64 {
	t.Helper()
	ctx, state, plugin := s.Context(), framework.NewCycleState(), find[*nodegrouppolicy.NodeGroupPolicy](t, s)
	s.Try(pod)
	nodes, err := s.Framework.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		t.Fatal(err)
	}
	if _, status := plugin.PreFilter(ctx, state, pod, nodes); !status.IsSuccess() {
		t.Fatalf("PreFilter: %v", status)
	}
	feasible := nodes[:0:0]
	for _, node := range nodes {
		if plugin.Filter(ctx, state, pod, node).IsSuccess() {
			feasible = append(feasible, node)
		}
	}
	if status := plugin.PreScore(ctx, state, pod, feasible); status.IsSkip() {
		return nil
	}
	scores := map[string]int64{}
	for _, node := range feasible {
		score, status := plugin.Score(ctx, state, pod, node)
		if !status.IsSuccess() {
			t.Fatal(status.AsError())
		}
		scores[node.Node().Name] = score
	}
	return scores
}

func TestScores(t *testing.T) {
	three := func() *plugintest.PolicyWrapper {
		return plugintest.MakePolicy("web").Deployment("nginx").Weight(3, "a").Weight(2, "b").Weight(1, "c")
	}
	d, rs := deployment("nginx", 6)
	tests := map[string]struct {
		policy *plugintest.PolicyWrapper
		bound  []string // the nodes of replicas that are there
		second bool     // attempt, after the first one found no cluster of use
		want   map[string]int64
	}{
		"the cluster that lacks most comes first, the others in proportion": {
			policy: three(), want: map[string]int64{"a-0": 100, "a-1": 100, "b-0": 50, "b-1": 50, "c-0": 0, "c-1": 0},
		},
		"what is there counts": {
			policy: three(), bound: []string{"a-0", "a-1"},
			want: map[string]int64{"a-0": 0, "a-1": 0, "b-0": 100, "b-1": 100, "c-0": 0, "c-1": 0},
		},
		"clusters that lack the same are left to the other plugins": {
			policy: three(), bound: []string{"a-0", "a-0", "b-0"}, want: nil,
		},
		"one cluster is left to the other plugins": {
			policy: three(), bound: []string{"a-0", "a-0", "a-0", "b-0", "b-0"}, want: nil,
		},
		"beyond the shares the cluster that has least too much comes first": {
			policy: three().Anyway(), bound: []string{"a-0", "a-0", "a-0", "b-0", "b-0", "b-0", "b-0", "c-0"},
			want: map[string]int64{"a-0": 100, "a-1": 100, "b-0": 0, "b-1": 0, "c-0": 100, "c-1": 100},
		},
		"nodes in no cluster come after clusters that have too much": {
			policy: three().Anyway(), bound: []string{"a-0", "a-0", "a-0", "b-0", "b-0", "b-0", "b-0", "c-0"}, second: true,
			want: map[string]int64{"a-0": 100, "a-1": 100, "b-0": 33, "b-1": 33, "c-0": 100, "c-1": 100, "stray-0": 0},
		},
		"nodes in no cluster come after clusters that all lack the same": {
			policy: three().Anyway(), bound: []string{"a-0", "a-0", "a-0", "b-0", "b-0", "c-0"}, second: true,
			want: map[string]int64{"a-0": 100, "a-1": 100, "b-0": 100, "b-1": 100, "c-0": 100, "c-1": 100, "stray-0": 0},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			objects := append(plugintest.Sites(2, "a", "b", "c"), plugintest.MakeNode("stray", 0).Obj(), tc.policy.Obj(), d, rs)
			s := plugintest.New(t, objects)
			for i, node := range tc.bound {
				s.Add(plugintest.MakePodOf(rs, i).Node(node).Obj())
			}
			pod := plugintest.MakePodOf(rs, 0).UID("waiting").Name("waiting-0").Obj()
			if tc.second {
				pod = plugintest.MakePodOf(rs, 0).UID("waiting").Name("waiting-0").HostPort(80).Obj()
				occupyPort(s, "a", "b", "c")
				s.Try(pod)
			}
			got := scoresOf(t, s, pod)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("scores (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheClusterOfAnOrdinalIsPreferredWhenAnyWillDo(t *testing.T) {
	set := plugintest.StatefulSet("db", 6)
	policy := plugintest.MakePolicy("web").Selects("apps/v1", "StatefulSet", "db").Weight(1, "a", "b").Anyway()
	s := plugintest.New(t, append([]runtime.Object{policy.Obj(), set, plugintest.MakeNode("stray", 0).Obj()}, plugintest.Sites(2, "a", "b")...))
	occupyPort(s, "a")
	pod := plugintest.MakePodOf(set, 0).HostPort(80).Obj()
	// Its own cluster turns out to be of no use, so the next attempt admits every node.
	s.Try(pod)
	want := map[string]int64{"a-0": 100, "a-1": 100, "b-0": 50, "b-1": 50, "stray-0": 0}
	if diff := cmp.Diff(want, scoresOf(t, s, pod)); diff != "" {
		t.Errorf("scores (-want +got):\n%s", diff)
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package history_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/history"
)

func TestTally(t *testing.T) {
	const cpu, share = "Insufficient cpu", "node(s) in clusters that have their share"
	type node struct {
		cluster string
		reasons []string
	}
	many := make([]node, 0, history.MaxClusters+3)
	wantMany := &history.Reasons{OtherClusters: 2, Others: []history.Reason{{Text: cpu, Nodes: 2}}}
	for i := range history.MaxClusters + 2 {
		name := fmt.Sprintf("c%03d", i)
		many = append(many, node{name, []string{cpu}})
		if i < history.MaxClusters {
			wantMany.Clusters = append(wantMany.Clusters, history.ClusterReasons{Cluster: name, Reasons: []history.Reason{{Text: cpu, Nodes: 1}}})
		}
	}
	for name, test := range map[string]struct {
		nodes []node
		want  *history.Reasons
	}{
		"nothing": {want: &history.Reasons{}},
		"several clusters and none": {
			nodes: []node{{"b", []string{share}}, {"a", []string{share}}, {"", []string{cpu}}, {"a", []string{cpu}}, {"a", []string{cpu}}},
			want: &history.Reasons{Clusters: []history.ClusterReasons{
				{Cluster: "a", Reasons: []history.Reason{{Text: cpu, Nodes: 2}, {Text: share, Nodes: 1}}},
				{Cluster: "", Reasons: []history.Reason{{Text: cpu, Nodes: 1}}},
				{Cluster: "b", Reasons: []history.Reason{{Text: share, Nodes: 1}}},
			}},
		},
		"a node with two reasons": {
			nodes: []node{{"a", []string{cpu, share}}},
			want: &history.Reasons{Clusters: []history.ClusterReasons{
				{Cluster: "a", Reasons: []history.Reason{{Text: cpu, Nodes: 1}, {Text: share, Nodes: 1}}},
			}},
		},
		"more clusters than are told one by one": {nodes: many, want: wantMany},
	} {
		t.Run(name, func(t *testing.T) {
			var tally history.Tally
			for _, n := range test.nodes {
				tally.Add(n.cluster, n.reasons)
			}
			if diff := cmp.Diff(test.want, tally.Reasons()); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
		})
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"strings"
	"testing"

	"berth.dev/berth/test/perf/report"
)

func TestGoalsAreComparedWithWhatWasMeasured(t *testing.T) {
	decision := func(name string, nanoseconds float64) report.Peer {
		return report.Peer{Name: name, Nanoseconds: []float64{nanoseconds}}
	}
	results := &report.Results{
		Decisions: []report.Comparison{
			{Name: "bystanders-1000", Title: "nodes", Peers: []report.Peer{decision("stock", 100), decision("berth-adds-only", 101), decision("berth", 103)}},
			{Name: "tenth-5000", Title: "nodes", Peers: []report.Peer{
				{Name: "berth", Nanoseconds: []float64{100}, Limited: true}, decision("stock", 190), decision("node-affinity", 800),
			}},
			{Name: "few-50000", Title: "nodes", Peers: []report.Peer{decision("berth", 150), decision("berth-5000", 100)}},
		},
		Points:      []report.Point{{Name: "nodegrouppolicy PreFilterAndPreScoreSkip", Nanoseconds: 40}, {Name: "clusterresource PreFilterAndPreScoreSkip", Nanoseconds: 50}},
		Throughputs: []report.Throughput{{Workload: "PlainPods 5000Nodes", Peer: "stock", Pods: []float64{100}}, {Workload: "PlainPods 5000Nodes", Peer: "berth", Pods: []float64{120}}},
		Processes: &report.Processes{
			Drains: []report.Drain{{Name: "stock", Writes: []float64{3}}, {Name: "policy", Writes: []float64{4}}},
			Freed: []report.Freed{
				{Name: "stock", Milliseconds: [][]float64{{100}}}, {Name: "policy", Milliseconds: [][]float64{{151}}},
			},
			Controllers: &report.Controllers{SyncMilliseconds: []float64{1999}},
		},
	}
	var page strings.Builder
	if err := report.WriteMarkdown(&page, results); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| 0 | 0 | yes |",
		"| at most 1.01 x | 1000 nodes, plugins only added 1.01 x, **1000 nodes, shipped profile 1.03 x** | **in part** |",
		"| at most 60 ns, 0 allocations | the longest 50.0 ns, allocations 0 | yes |",
		"| **plain pods 1.90 x**, **node affinity 8.00 x** | **no** |",
		"| at most 1.5 x | 1.50 x | yes |",
		"| shipped profile 1.20 x | yes |",
		"| 1 x | **policy 1.33 x** | **no** |",
		"| at most 50 ms | **policy 51.0 ms** | **no** |",
		"| in step after 1999 ms, writes 0 | yes |",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not contain %q:\n%s", want, page.String())
		}
	}
	for _, unmeasured := range []string{"NaN", "PodTopologySpread |", "HTTP extender |", "DRA |"} {
		if strings.Contains(page.String(), unmeasured) {
			t.Errorf("the page contains %q, which was not measured:\n%s", unmeasured, page.String())
		}
	}
}

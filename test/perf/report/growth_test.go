// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/test/perf/report"
)

// grown are results of a large cluster in which half of the goals are reached.
func grown() *report.Scale {
	drain := func(name string, first, cpu, memory float64) report.Drain {
		return report.Drain{
			Name: name, Title: name, Pods: 10, FirstMilliseconds: []float64{first}, FirstCPUMilliseconds: []float64{first},
			CPUMilliseconds: []float64{cpu}, MemoryBytes: []float64{memory}, PodsPerSecond: []float64{100},
		}
	}
	start := func(cpu, memory float64) report.Start {
		return report.Start{CPUMilliseconds: cpu, MemoryBytes: memory * 1024}
	}
	return &report.Scale{
		Nodes: 5, Pods: 10, Clusters: 2, Policies: 3,
		Drains: []report.Drain{drain("stock", 100, 1, 100), drain("berth", 110, 1, 100), drain("policy", 120, 0.5, 120)},
		Controllers: report.ScaleControllers{
			First: report.Start{CPUMilliseconds: 61_000, Writes: 7}, Again: report.Start{CPUMilliseconds: 59_000}, IdleSeconds: 30, IdleCPUMilliseconds: 150,
			Changes: []report.Change{{What: "a pod", Times: 2, CPUMilliseconds: 1.5}, {What: "another pod", CPUMilliseconds: 3}, {What: "a node", CPUMilliseconds: 9}},
		},
		Slopes: []report.Slope{
			{Scheduler: start(1000, 100), Controllers: start(2000, 200), PodCPUMilliseconds: 1},
			{What: "pod", More: 1000, Scheduler: start(1500, 2100), Controllers: start(2000, 200), PodCPUMilliseconds: 1.25},
		},
		Decisions: []report.Comparison{{Name: "few-100000", Title: "nodes", Peers: []report.Peer{
			{Name: "berth", Nanoseconds: []float64{160}}, {Name: "berth-5000", Nanoseconds: []float64{100}},
		}}},
		Sharing: []report.Sharing{
			{Schedulers: 1, CPUMilliseconds: []float64{1}, Requests: []float64{2}}, {Schedulers: 8, CPUMilliseconds: []float64{1.1}, Requests: []float64{2}},
		},
	}
}

func TestGoalsOfALargeCluster(t *testing.T) {
	var page strings.Builder
	if err := report.WriteMarkdown(&page, &report.Results{Scale: grown()}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| at most 1.1 x | plain pods 1.10 x, **policy 1.20 x** | **in part** |",
		"| at most 0.6 x, 1.15 x | CPU 0.50 x, **memory 1.20 x** | **in part** |",
		"| **first start 61.0 s**, another start 59.0 s, a pod 1.50 ms, **another pod 3.00 ms** | **in part** |",
		"| 0 writes, at most 0.5 % of a core | writes 0, CPU 0.50 % | yes |",
		"| at most 1.5 x | **1.60 x** | **no** |",
		"| at most 1.1 x, 0 | CPU 1.10 x, refused 0 | yes |",
		"| pod | 0.500 ms | 2.0 KiB | +0.25 ms for all | 0.000 ms | 0.0 KiB |",
		"| a change of a pod, the mean of 2 | 1.50 ms |",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not contain %q:\n%s", want, page.String())
		}
	}
	if strings.Contains(page.String(), "NaN") {
		t.Errorf("the page tells what was not measured:\n%s", page.String())
	}
}

func TestGoalsOfABacklog(t *testing.T) {
	drain := func(name string, speed, cpu, memory float64) report.Drain {
		return report.Drain{Name: name, PodsPerSecond: []float64{speed, 1}, CPUMilliseconds: []float64{cpu, 1}, MemoryBytes: []float64{memory, 1}}
	}
	results := &report.Results{Processes: &report.Processes{Drains: []report.Drain{
		drain("stock", 100, 1, 100), drain("adds-only", 96, 1, 100), drain("berth", 99, 1, 100), drain("policy", 130, 0.1, 100), drain("resource", 115, 1, 100),
	}}}
	var page strings.Builder
	if err := report.WriteMarkdown(&page, results); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| plugins only added 0.98 x, shipped profile 0.99 x, policy 1.15 x, **resource 1.07 x** | **in part** |",
		"| at most 1 x, of a policy 0.6 x | plugins only added 1.00 x, shipped profile 1.00 x, policy 0.55 x, resource 1.00 x | yes |",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not contain %q:\n%s", want, page.String())
		}
	}
}

func TestPeersThatAreAlikeAreComparedTurnByTurn(t *testing.T) {
	results := &report.Results{Decisions: []report.Comparison{{Name: "bystanders-1000", Title: "nodes", Peers: []report.Peer{
		{Name: "stock", Nanoseconds: []float64{100}, Turns: []float64{100, 200, 100, 100}},
		{Name: "berth", Nanoseconds: []float64{150}, Turns: []float64{100, 202, 101, 400}},
	}}}}
	var page strings.Builder
	if err := report.WriteMarkdown(&page, results); err != nil {
		t.Fatal(err)
	}
	if want := "| 1000 nodes, shipped profile 1.010 ± 0.005 x | yes |"; !strings.Contains(page.String(), want) {
		t.Errorf("the page does not contain %q:\n%s", want, page.String())
	}
}

func TestResultsOfALargeClusterAreKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results", "scale.json")
	if err := report.WriteJSON(file, grown()); err != nil {
		t.Fatal(err)
	}
	got, err := report.ReadJSON[report.Scale](file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(grown(), got); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
}

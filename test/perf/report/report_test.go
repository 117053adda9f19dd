// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/test/perf/report"
)

func TestSpreadOf(t *testing.T) {
	tests := map[string]struct {
		samples []float64
		want    report.Spread
	}{
		"nothing":  {},
		"odd":      {samples: []float64{3, 1, 2}, want: report.Spread{Median: 2, Least: 1, Most: 3}},
		"even":     {samples: []float64{4, 1, 3, 2}, want: report.Spread{Median: 2.5, Least: 1, Most: 4}},
		"just one": {samples: []float64{5}, want: report.Spread{Median: 5, Least: 5, Most: 5}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, report.SpreadOf(tc.samples)); diff != "" {
				t.Errorf("spread (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRatiosAreThoseOfSingleRounds(t *testing.T) {
	// The machine was slow in the second round, for both.
	got := report.Ratios([]float64{20, 200, 30}, []float64{10, 100, 10})
	if want := (report.Spread{Median: 2, Least: 2, Most: 3}); got != want {
		t.Errorf("ratios %v, want %v", got, want)
	}
}

func TestPageNamesTheMachineAndTheRatios(t *testing.T) {
	results := &report.Results{
		Environment: report.Environment{Date: "2026-01-02", Commit: "abc", Go: "go1", Processor: "cpu", Processors: 2, Kernel: "6", Kubernetes: "1.2"},
		Newest:      &report.Newest{Kubernetes: "1.3", Decisions: []report.Comparison{{Name: "small", Title: "few nodes", Peers: []report.Peer{{Title: "C", Nanoseconds: []float64{1}}}}}},
		Decisions: []report.Comparison{{Name: "small", Title: "few nodes", Peers: []report.Peer{
			{Name: "a", Title: "A", Nanoseconds: []float64{1e6}, Limited: true, Placed: 10, Violations: 1},
			{Name: "b", Title: "B", Nanoseconds: []float64{3e6}},
		}}},
	}
	var page strings.Builder
	if err := report.WriteMarkdown(&page, results); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"2026-01-02, commit abc, Kubernetes 1.2, go1, 2 processors (cpu), Linux 6.", "## small",
		"## kubernetes-1.3-small", "Few nodes, with Kubernetes 1.3.", "| C | 1.00 x |",
		"Few nodes.", "| A | 1.00 x |", "| B | 3.00 x |", "1 of 10",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not contain %q:\n%s", want, page.String())
		}
	}
}

func TestQuantiles(t *testing.T) {
	tests := map[string]struct {
		samples []float64
		q, want float64
	}{
		"nothing":                     {q: 0.5},
		"the only one":                {samples: []float64{7}, q: 0.99, want: 7},
		"the median of an odd number": {samples: []float64{3, 1, 2}, q: 0.5, want: 2},
		"all but one in a hundred":    {samples: upTo(200), q: 0.99, want: 198},
		"the least":                   {samples: upTo(10), q: 0, want: 1},
		"the most":                    {samples: upTo(10), q: 1, want: 10},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := report.Quantile(tc.samples, tc.q); got != tc.want {
				t.Errorf("quantile %v, want %v", got, tc.want)
			}
		})
	}
}

// upTo returns the numbers from n down to 1.
func upTo(n int) []float64 {
	var numbers []float64
	for i := n; i > 0; i-- {
		numbers = append(numbers, float64(i))
	}
	return numbers
}

func TestPageComparesProcesses(t *testing.T) {
	results := &report.Results{Processes: &report.Processes{
		Nodes: 1000,
		Drains: []report.Drain{
			{Title: "A", Pods: 100, PodsPerSecond: []float64{100, 300}, CPUMilliseconds: []float64{1, 3}, Writes: []float64{6, 6}},
			{
				Title: "B", Pods: 100, PodsPerSecond: []float64{200, 600}, CPUMilliseconds: []float64{0.5, 1.5}, Writes: []float64{3, 3},
				Requests: []float64{2, 2}, MemoryBytes: []float64{1 << 20, 1 << 20}, Limited: true, Violations: 1,
				ServerMilliseconds: []float64{1, 3}, Busy: []float64{0.8, 1},
				Kinds: map[string]float64{"create events": 1, "create pods": 1},
			},
		},
		Freed: []report.Freed{
			{Title: "A", Waiting: 1000, Milliseconds: [][]float64{{10, 20}, {10, 20}}},
			{Title: "B", Waiting: 1000, Milliseconds: [][]float64{{20, 60}, {20, 50}}, Requests: []float64{4, 5}},
		},
		Controllers: &report.Controllers{
			Policies: 100, Pods: 10000, SyncMilliseconds: []float64{1500, 1600, 1400}, IdleSeconds: 30, IdleWrites: 0,
		},
	}}
	var page strings.Builder
	if err := report.WriteMarkdown(&page, results); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"## processes-drain", "1000 nodes", "| B | 0.50 x | 0.50 to 0.50 | 2.00 x | 2.00 to 2.00 | 1.00 ms | 2.00 ms | 90 % | 400 | 200 to 600 | 1 MiB | 1 of 200 | 100 | 2 |",
		"| B | 0.50 x | 3.00 | 2.00 | create events 1.00, create pods 1.00 |",
		"1000 pods waiting", "| B | 2.00 x | 3.00 x | +40.0 ms | 20.0 ms | 60.0 ms | 50.0 to 60.0 ms | 4 | 4.5 |",
		"100 policies, 10000 pods", "1500 ms | 1400 ms to 1600 ms", "in 30 s with nothing to do: writes | 0 |",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not contain %q:\n%s", want, page.String())
		}
	}
}

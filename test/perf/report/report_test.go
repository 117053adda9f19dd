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
		Environment: report.Environment{Date: "2026-01-02", Commit: "abc", Go: "go1", Processor: "cpu", Processors: 2, Kernel: "6"},
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
		"2026-01-02, commit abc, go1, 2 processors (cpu), Linux 6.", "## small", "Few nodes.", "| A | 1.00 x |", "| B | 3.00 x |", "1 of 10",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not contain %q:\n%s", want, page.String())
		}
	}
}

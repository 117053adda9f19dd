// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/test/perf/report"
)

func TestPointsAreReadFromTheOutputOfGoTest(t *testing.T) {
	const output = `goos: linux
pkg: berth.dev/berth/pkg/plugins/internal/view
cpu: something
BenchmarkRefresh/unchanged/nodes=100-2         	 1692055	        70.22 ns/op	       8 B/op	       1 allocs/op
PASS
ok  	berth.dev/berth/pkg/plugins/internal/view	17.826s
pkg: berth.dev/berth/pkg/placement/apportion
BenchmarkPlan-16    	100	 2 ns/op
`
	want := []report.Point{
		{Name: "view Refresh/unchanged/nodes=100", Nanoseconds: 70.22, Bytes: 8, Allocations: 1},
		{Name: "apportion Plan", Nanoseconds: 2},
	}
	if diff := cmp.Diff(want, parsePoints([]byte(output))); diff != "" {
		t.Errorf("points (-want +got):\n%s", diff)
	}
}

func TestThroughputsAreReadFromSchedulerPerf(t *testing.T) {
	const file = `{"version": "v1", "dataItems": [
		{"data": {"Average": 400, "Perc50": 1}, "labels": {"Metric": "SchedulingThroughput", "Name": "BenchmarkPerfScheduling/PlainPods.stock/5000Nodes/perf"}},
		{"data": {"Average": 7}, "labels": {"Metric": "something", "Name": "BenchmarkPerfScheduling/PlainPods.stock/5000Nodes/perf"}},
		{"data": {"Average": 410}, "labels": {"Metric": "SchedulingThroughput", "Name": "BenchmarkPerfScheduling/PlainPods.berth/5000Nodes/perf"}}
	]}`
	c := &collection{}
	for range 2 {
		if err := c.read([]byte(file)); err != nil {
			t.Fatal(err)
		}
	}
	want := []report.Throughput{
		{Workload: "PlainPods 5000Nodes", Peer: "stock", Pods: []float64{400, 400}},
		{Workload: "PlainPods 5000Nodes", Peer: "berth", Pods: []float64{410, 410}},
	}
	if diff := cmp.Diff(want, c.throughputs); diff != "" {
		t.Errorf("throughputs (-want +got):\n%s", diff)
	}
}

func TestStatementsAreReadFromAProfile(t *testing.T) {
	tests := map[string]struct {
		profile, wantError string
		want               int
	}{
		"blocks": {profile: "mode: atomic\nberth.dev/berth/a.go:1.2,3.4 2 10\nberth.dev/berth/b.go:1.2,3.4 3 7\nberth.dev/berth/b.go:9.2,9.4 3 0\n", want: 41},
		"none":   {profile: "mode: atomic\n"},
		"empty":  {wantError: "the profile is empty"},
		"cut":    {profile: "mode: atomic\nberth.dev/berth/a.go:1.2,3.4 2\n", wantError: `reading "berth.dev/berth/a.go:1.2,3.4 2" of a profile`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := executed([]byte(tc.profile))
			if got != tc.want || (err != nil) != (tc.wantError != "") || err != nil && !strings.HasPrefix(err.Error(), tc.wantError) {
				t.Errorf("got %d and error %v, want %d and %q", got, err, tc.want, tc.wantError)
			}
		})
	}
}

func TestFiguresAreComparedWithTheBaseline(t *testing.T) {
	known := map[string]int{"a": 1000}
	tests := map[string]struct {
		measured map[string]int
		want     string
	}{
		"about the same": {measured: map[string]int{"a": 1025}},
		"more":           {measured: map[string]int{"a": 1040}, want: "a: 1040 allocations, 1000 until now: find out why"},
		"fewer":          {measured: map[string]int{"a": 900}, want: "a: 900 allocations, 1000 until now"},
		"unknown":        {measured: map[string]int{"a": 1000, "b": 7}, want: "b: 7 allocations, and nothing to compare with"},
		"gone":           {measured: map[string]int{}, want: "a: not measured any more, 1000 allocations until now"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := allocations.compare(tc.measured, known)
			if tc.want == "" {
				if err != nil {
					t.Errorf("error %v", err)
				}
				return
			}
			if err == nil || !strings.HasPrefix(err.Error(), tc.want+"\n") {
				t.Errorf("error %v, want %s", err, tc.want)
			}
		})
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apportion_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/placement/apportion"
)

func TestLimit(t *testing.T) {
	tests := map[string]struct {
		clusters []apportion.Cluster
		capacity map[string]int64
		want     []apportion.Cluster
	}{
		"no capacities change nothing": {
			clusters: []apportion.Cluster{{Name: "a", Weight: 2, Min: 1, Max: new(int64(4))}},
			want:     []apportion.Cluster{{Name: "a", Weight: 2, Min: 1, Max: new(int64(4))}},
		},
		"a capacity is a maximum": {
			clusters: []apportion.Cluster{{Name: "a", Weight: 2}, {Name: "b", Weight: 3}},
			capacity: map[string]int64{"a": 7},
			want:     []apportion.Cluster{{Name: "a", Weight: 2, Max: new(int64(7))}, {Name: "b", Weight: 3}},
		},
		"the smaller of max and capacity counts": {
			clusters: []apportion.Cluster{{Name: "a", Max: new(int64(4))}, {Name: "b", Max: new(int64(4))}},
			capacity: map[string]int64{"a": 3, "b": 5},
			want:     []apportion.Cluster{{Name: "a", Max: new(int64(3))}, {Name: "b", Max: new(int64(4))}},
		},
		"a full cluster gives up its minimum": {
			clusters: []apportion.Cluster{{Name: "a", Weight: 1, Min: 5}},
			capacity: map[string]int64{"a": 0},
			want:     []apportion.Cluster{{Name: "a", Weight: 1, Min: 0, Max: new(int64(0))}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			input := cmp.Diff([]apportion.Cluster{}, tc.clusters)
			got, err := apportion.Limit(tc.clusters, tc.capacity)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("clusters (-want +got):\n%s", diff)
			}
			if cmp.Diff([]apportion.Cluster{}, tc.clusters) != input {
				t.Errorf("the input was changed to %v", tc.clusters)
			}
		})
	}
}

func TestLimitRefuses(t *testing.T) {
	clusters := []apportion.Cluster{{Name: "a", Weight: 1}}
	tests := map[string]struct {
		capacity map[string]int64
		wantErr  string
	}{
		"a negative capacity":                 {map[string]int64{"a": -1}, `cluster "a": capacity -1 is negative`},
		"a capacity for an unlisted cluster":  {map[string]int64{"b": 1}, `cluster "b" has a capacity but is not`},
		"the first unlisted cluster is named": {map[string]int64{"d": 1, "c": 1}, `cluster "c"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := apportion.Limit(clusters, tc.capacity)
			if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("Limit = %v, want an error with %q", err, tc.wantErr)
			}
		})
	}
}

func TestLimitedSharesSpillOver(t *testing.T) {
	limited, err := apportion.Limit(
		[]apportion.Cluster{{Name: "beijing", Weight: 2}, {Name: "hangzhou", Weight: 3}},
		map[string]int64{"hangzhou": 1},
	)
	if err != nil {
		t.Fatal(err)
	}
	shares, unplaced := mustOrder(t, limited).Shares(5)
	if diff := cmp.Diff([]int64{4, 1}, shares); diff != "" || unplaced != 0 {
		t.Errorf("unplaced %d, shares (-want +got):\n%s", unplaced, diff)
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package preview_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDivisionByStrategy(t *testing.T) {
	tests := map[string]struct {
		args         string
		want         map[string]int64
		wantUnplaced int64
	}{
		"spread follows free capacity": {
			args: "--strategy spread --replicas 6 --capacity a=3,b=6,c=9", want: map[string]int64{"a": 1, "b": 2, "c": 3},
		},
		"spread leaves over what finds no room": {
			args: "--strategy spread --replicas 6 --capacity a=1,b=2,c=2", want: map[string]int64{"a": 1, "b": 2, "c": 2}, wantUnplaced: 1,
		},
		"spread places the difference only": {
			args: "--strategy spread --replicas 8 --current a=1,b=3,c=0 --capacity a=10,b=10,c=10",
			want: map[string]int64{"a": 3, "b": 4, "c": 1},
		},
		"a cluster without capacity keeps what it has": {
			args: "--strategy spread --replicas 9 --current a=1,b=1,c=1 --capacity a=10,b=20,d=30",
			want: map[string]int64{"a": 2, "b": 3, "c": 1, "d": 3},
		},
		"spread takes away in proportion to what runs": {
			args: "--strategy spread --replicas 2 --current a=1,b=3,c=0", want: map[string]int64{"a": 0, "b": 2, "c": 0},
		},
		"nothing moves where nothing changed": {
			args: "--strategy spread --replicas 4 --current a=1,b=3 --capacity a=10,b=10,c=10", want: map[string]int64{"a": 1, "b": 3, "c": 0},
		},
		"a rebalance divides anew": {
			args: "--strategy spread --replicas 4 --current a=1,b=3 --capacity a=11,b=9 --rebalance", want: map[string]int64{"a": 2, "b": 2},
		},
		"binpack fills the largest first": {
			args: "--strategy binpack --replicas 12 --capacity a=6,b=8,c=10", want: map[string]int64{"a": 0, "b": 2, "c": 10},
		},
		"the strategy may be written as in a Subscription": {
			args: "--strategy Binpack --replicas 1 --capacity a=6,b=8", want: map[string]int64{"a": 0, "b": 1},
		},
		"weights do not matter to spread": {
			args: "--strategy spread --replicas 4 --weights a=9,b=1 --capacity a=2,b=2", want: map[string]int64{"a": 2, "b": 2},
		},
		"at least three clusters": {
			args: "--strategy binpack --replicas 12 --capacity a=6,b=8,c=10 --min-clusters 3", want: map[string]int64{"a": 1, "b": 1, "c": 10},
		},
		"at most one cluster": {
			args: "--strategy spread --replicas 12 --capacity a=6,b=8,c=10 --max-clusters 1",
			want: map[string]int64{"a": 0, "b": 0, "c": 10}, wantUnplaced: 2,
		},
		"preferred clusters take what they can": {
			args: "--strategy spread --replicas 9 --capacity a=6,b=8,c=10 --preferred a=2", want: map[string]int64{"a": 6, "b": 1, "c": 2},
		},
		"static takes weight 0": {
			args: "--strategy static --replicas 5 --weights a=2,b=1,c=0,d=2", want: map[string]int64{"a": 2, "b": 1, "c": 0, "d": 2},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := divide(t, tc.args)
			if diff := cmp.Diff(tc.want, got.shares()); diff != "" {
				t.Errorf("shares differ (-want +got):\n%s", diff)
			}
			if got.Unplaced != tc.wantUnplaced {
				t.Errorf("unplaced %d, want %d", got.Unplaced, tc.wantUnplaced)
			}
			seats := map[string]int64{}
			for cluster := range tc.want {
				seats[cluster] = 0
			}
			for _, cluster := range got.Seats {
				seats[cluster]++
			}
			if diff := cmp.Diff(tc.want, seats); diff != "" {
				t.Errorf("seats differ from the shares (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDivisionByStrategyOutput(t *testing.T) {
	tests := map[string]struct{ args, want string }{
		"json": {
			args: "--strategy binpack --replicas 3 --capacity a=1,b=2 -o json",
			want: `{"replicas":3,"unplaced":0,"shares":[{"cluster":"a","replicas":1},{"cluster":"b","replicas":2}],"seats":["b","b","a"]}` + "\n",
		},
		"json with what runs now": {
			args: "--strategy spread --replicas 3 --capacity a=1,b=2 --current a=1 -o json",
			want: `{"replicas":3,"unplaced":0,"shares":[{"cluster":"a","replicas":2},{"cluster":"b","replicas":1}],` +
				`"seats":["a","b","a"],"moves":[{"cluster":"a","change":1},{"cluster":"b","change":1}]}` + "\n",
		},
		"table": {
			args: "--strategy spread --replicas 2 --capacity a=1",
			want: "CLUSTER   REPLICAS\na         1\n\n1 of 2 replicas find no place: all clusters are full.\n\nSeats in order: a\n",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { preview(t, tc.args).CheckOutput(t, tc.want) })
	}
}

func TestDivisionByStrategyRefusesWrongInput(t *testing.T) {
	const spread = "--strategy spread --replicas 7 "
	tests := map[string]struct{ args, want string }{
		"an unknown strategy":               {"--strategy dice --replicas 7 --capacity a=1", `--strategy must be static, spread or binpack, not "dice"`},
		"no capacity":                       {"--strategy spread --replicas 7", "[capacity current]"},
		"static without weights":            {"--strategy static --replicas 7", `"weights" not set`},
		"weights that are all 0":            {"--strategy static --replicas 7 --weights a=0,b=0", "--weights: all weights are 0"},
		"a smallest share with spread":      {spread + "--capacity a=1 --min a=1", "--min goes with --strategy static only"},
		"a largest share with spread":       {spread + "--capacity a=1 --max a=1", "--max goes with --strategy static only"},
		"a number of clusters with weights": {"--replicas 7 --weights a=1 --min-clusters 1", "--min-clusters goes with --strategy spread or binpack only"},
		"a preference with weights":         {"--replicas 7 --weights a=1 --preferred a=1", "--preferred goes with"},
		"min clusters above max":            {spread + "--capacity a=1 --min-clusters 3 --max-clusters 2", "--min-clusters 3 is larger than --max-clusters 2"},
		"a negative number of clusters":     {spread + "--capacity a=1 --max-clusters -1", "--max-clusters"},
		"a preference for an unknown":       {spread + "--capacity a=1 --preferred b=1", `--preferred: cluster "b" has no capacity`},
		"negative capacity":                 {spread + "--capacity a=-1", "--capacity"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { preview(t, tc.args).CheckFailed(t, tc.want) })
	}
}

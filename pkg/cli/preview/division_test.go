// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package preview_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/cli"
	"berth.dev/berth/pkg/cli/internal/clitest"
)

// preview runs berthctl preview division; arguments are separated by spaces.
func preview(t *testing.T, args string) clitest.Result {
	t.Helper()
	all := append([]string{"preview", "division"}, strings.Fields(args)...)
	return clitest.Run(t.Context(), cli.Options{}, all...)
}

const sevenAtTwoToThree = "--replicas 7 --weights beijing=2,hangzhou=3"

func TestDivisionOutput(t *testing.T) {
	tests := map[string]struct{ args, want string }{
		"json": {
			args: sevenAtTwoToThree + " -o json",
			want: `{"replicas":7,"unplaced":0,"shares":[{"cluster":"beijing","replicas":3},{"cluster":"hangzhou","replicas":4}],` +
				`"seats":["hangzhou","beijing","hangzhou","beijing","hangzhou","hangzhou","beijing"]}` + "\n",
		},
		"json with what runs now": {
			args: sevenAtTwoToThree + " --current beijing=2,hangzhou=4 -o json",
			want: `{"replicas":7,"unplaced":0,"shares":[{"cluster":"beijing","replicas":3},{"cluster":"hangzhou","replicas":4}],` +
				`"seats":["hangzhou","beijing","hangzhou","beijing","hangzhou","hangzhou","beijing"],` +
				`"moves":[{"cluster":"beijing","change":1}]}` + "\n",
		},
		"moves are empty where nothing has to move": {
			args: "--replicas 1 --weights a=1 --current a=1 -o json",
			want: `{"replicas":1,"unplaced":0,"shares":[{"cluster":"a","replicas":1}],"seats":["a"],"moves":[]}` + "\n",
		},
		"clusters that run nothing now count as 0": {
			args: "--replicas 2 --weights b=1,a=1,c=1 --current c=4 -o json",
			want: `{"replicas":2,"unplaced":0,"shares":[{"cluster":"a","replicas":1},{"cluster":"b","replicas":1},{"cluster":"c","replicas":0}],` +
				`"seats":["a","b"],"moves":[{"cluster":"a","change":1},{"cluster":"b","change":1},{"cluster":"c","change":-4}]}` + "\n",
		},
		"no replicas": {
			args: "--replicas 0 --weights a=1 -o json",
			want: `{"replicas":0,"unplaced":0,"shares":[{"cluster":"a","replicas":0}],"seats":[]}` + "\n",
		},
		"what exceeds all maxima is unplaced": {
			args: sevenAtTwoToThree + " --max beijing=1,hangzhou=2 -o json",
			want: `{"replicas":7,"unplaced":4,"shares":[{"cluster":"beijing","replicas":1},{"cluster":"hangzhou","replicas":2}],` +
				`"seats":["hangzhou","beijing","hangzhou"]}` + "\n",
		},
		"a max of 0 leaves the cluster out": {
			args: "--replicas 2 --weights a=1,b=1 --max a=0 -o json",
			want: `{"replicas":2,"unplaced":0,"shares":[{"cluster":"a","replicas":0},{"cluster":"b","replicas":2}],"seats":["b","b"]}` + "\n",
		},
		"minima come first, also if there are too few replicas": {
			args: "--replicas 3 --weights a=1,b=1 --min a=2,b=2 -o json",
			want: `{"replicas":3,"unplaced":0,"shares":[{"cluster":"a","replicas":2},{"cluster":"b","replicas":1}],"seats":["a","b","a"]}` + "\n",
		},
		"capacity counts beyond what runs now": {
			args: sevenAtTwoToThree + " --current beijing=1,hangzhou=3 --capacity beijing=1 -o json",
			want: `{"replicas":7,"unplaced":0,"shares":[{"cluster":"beijing","replicas":2},{"cluster":"hangzhou","replicas":5}],` +
				`"seats":["hangzhou","beijing","hangzhou","beijing","hangzhou","hangzhou","hangzhou"],` +
				`"moves":[{"cluster":"beijing","change":1},{"cluster":"hangzhou","change":2}]}` + "\n",
		},
		"capacity alone": {
			args: sevenAtTwoToThree + " --capacity beijing=0,hangzhou=3 -o json",
			want: `{"replicas":7,"unplaced":4,"shares":[{"cluster":"beijing","replicas":0},{"cluster":"hangzhou","replicas":3}],` +
				`"seats":["hangzhou","hangzhou","hangzhou"]}` + "\n",
		},
		"yaml": {
			args: "--replicas 1 --weights a=1 --current a=0 --output yaml",
			want: "moves:\n- change: 1\n  cluster: a\nreplicas: 1\nseats:\n- a\nshares:\n- cluster: a\n  replicas: 1\nunplaced: 0\n",
		},
		"table": {
			args: sevenAtTwoToThree,
			want: "CLUSTER    REPLICAS\nbeijing    3\nhangzhou   4\n\n" +
				"Seats in order: hangzhou, beijing, hangzhou, beijing, hangzhou, " + "hangzhou, beijing\n",
		},
		"table with what runs now and an overflow": {
			args: "--replicas 30 --weights a=1 --max a=21 --current a=25 -o table",
			want: "CLUSTER   REPLICAS   CURRENT   CHANGE\na         21         25        -4\n\n" +
				"9 of 30 replicas find no place: all clusters are full.\n\n" +
				"Seats in order: " + strings.Repeat("a, ", 19) + "a and 1 more (-o json lists all)\n",
		},
		"table without replicas": {
			args: "--replicas 0 --weights a=1",
			want: "CLUSTER   REPLICAS\na         0\n",
		},
		"repeated flags": {
			args: "--replicas 5 --weights a=2 --weights b=3 -o json",
			want: `{"replicas":5,"unplaced":0,"shares":[{"cluster":"a","replicas":2},{"cluster":"b","replicas":3}],"seats":["b","a","b","a","b"]}` + "\n",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { preview(t, tc.args).CheckOutput(t, tc.want) })
	}
}

func TestDivisionRefusesWrongInput(t *testing.T) {
	tests := map[string]struct{ args, want string }{
		"weight 0":               {"--replicas 7 --weights a=0", `--weights: cluster "a": the value must be a whole number from 1 to 2147483647, not "0"`},
		"negative weight":        {"--replicas 7 --weights a=-1", `not "-1"`},
		"weight beyond 2^31-1":   {"--replicas 7 --weights a=2147483648", `not "2147483648"`},
		"weight not a number":    {"--replicas 7 --weights a=x", `not "x"`},
		"weight with a fraction": {"--replicas 7 --weights a=1.5", `not "1.5"`},
		"cluster listed twice":   {"--replicas 7 --weights a=1,a=1", `--weights: cluster "a" is listed twice`},
		"empty list":             {"--replicas 7 --weights=", "--weights: the list is empty"},
		"no equal sign":          {"--replicas 7 --weights a", `"a" is not of the form CLUSTER=NUMBER`},
		"name is no DNS label":   {"--replicas 7 --weights Bei_jing=1", `"Bei_jing" is no name of a cluster`},
		"min of an unknown":      {"--replicas 7 --weights a=1 --min b=1", `--min: cluster "b" has no weight`},
		"max of an unknown":      {"--replicas 7 --weights a=1 --max b=1", `--max: cluster "b" has no weight`},
		"current of an unknown":  {"--replicas 7 --weights a=1 --current b=1", `--current: cluster "b" has no weight`},
		"capacity of an unknown": {"--replicas 7 --weights a=1 --capacity b=1", `--capacity: cluster "b" has no weight`},
		"min above max":          {"--replicas 7 --weights a=1 --min a=3 --max a=2", `cluster "a": --min 3 is larger than --max 2`},
		"negative min":           {"--replicas 7 --weights a=1 --min a=-3", `--min: cluster "a": the value must be a whole number from 0`},
		"negative max":           {"--replicas 7 --weights a=1 --max a=-3", "--max: "},
		"negative current":       {"--replicas 7 --weights a=1 --current a=-3", "--current: "},
		"negative capacity":      {"--replicas 7 --weights a=1 --capacity a=-3", "--capacity: "},
		"empty min":              {"--replicas 7 --weights a=1 --min=", "--min: the list is empty"},
		"negative replicas":      {"--replicas -1 --weights a=1", "--replicas: must be a whole number from 0 to 1000000"},
		"too many replicas":      {"--replicas 1000001 --weights a=1", "--replicas: must be a whole number from 0 to 1000000"},
		"replicas not a number":  {"--replicas seven --weights a=1", `not "seven"`},
		"replicas missing":       {"--weights a=1", `"replicas" not set`},
		"weights missing":        {"--replicas 7", `"weights" not set`},
		"everything missing":     {"", `"replicas", "weights" not set`},
		"unknown output format":  {sevenAtTwoToThree + " -o xml", `--output: unknown output format "xml", use one of table, json, yaml`},
		"wide has no meaning":    {sevenAtTwoToThree + " -o wide", `unknown output format "wide"`},
		"unknown flag":           {sevenAtTwoToThree + " --heights a=1", "unknown flag: --heights"},
		"an argument":            {sevenAtTwoToThree + " nginx", `"nginx"`},
		"a very long list":       {"--replicas 7 --weights " + strings.Repeat("a=1,", 50_000) + "a=1", "the list is longer than"},
		"a very long argument":   {sevenAtTwoToThree + " " + strings.Repeat("x", 100_000), `"xxxx`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { preview(t, tc.args).CheckFailed(t, tc.want) })
	}
}

// answer is the JSON that programs rely on.
type answer struct {
	Replicas, Unplaced int64
	Shares             []struct {
		Cluster  string
		Replicas int64
	}
	Seats []string
}

func divide(t *testing.T, args string) answer {
	t.Helper()
	result := preview(t, args+" -o json")
	if result.Code != 0 {
		t.Fatalf("%s: %s", args, result.Err)
	}
	var a answer
	if err := json.Unmarshal([]byte(result.Out), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a answer) shares() map[string]int64 {
	shares := map[string]int64{}
	for _, s := range a.Shares {
		shares[s.Cluster] = s.Replicas
	}
	return shares
}

func TestDivisionListsAllSeatsOfAMillionReplicas(t *testing.T) {
	a := divide(t, "--replicas 1000000 --weights a=2,b=3")
	if len(a.Seats) != 1_000_000 {
		t.Errorf("%d seats, want 1000000", len(a.Seats))
	}
	if diff := cmp.Diff(map[string]int64{"a": 400_000, "b": 600_000}, a.shares()); diff != "" {
		t.Errorf("shares differ (-want +got):\n%s", diff)
	}
}

func TestDivisionSeatOrder(t *testing.T) {
	for _, tc := range readCases[struct {
		Weights, Min, Max map[string]int64
		SeatOrder         []string `json:"seat_order"`
	}](t, "seat-order.json") {
		args := fmt.Sprintf("--replicas %d%s%s%s", len(tc.SeatOrder),
			list("weights", tc.Weights), list("min", tc.Min), list("max", tc.Max))
		t.Run(args, func(t *testing.T) {
			if diff := cmp.Diff(tc.SeatOrder, divide(t, args).Seats); diff != "" {
				t.Errorf("seats differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDivisionSharesByReplicas(t *testing.T) {
	for _, tc := range readCases[struct {
		Weights map[string]int64
		ByN     [][]int64 `json:"by_n"`
	}](t, "webster-by-replicas.json") {
		names := slices.Sorted(maps.Keys(tc.Weights))
		for replicas, columns := range tc.ByN {
			args := fmt.Sprintf("--replicas %d%s", replicas, list("weights", tc.Weights))
			t.Run(args, func(t *testing.T) {
				want := map[string]int64{}
				for i, n := range columns {
					want[names[i]] = n
				}
				if diff := cmp.Diff(want, divide(t, args).shares()); diff != "" {
					t.Errorf("shares differ (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// otherRules are rows of the table that follow rules Berth does not have.
var otherRules = map[string]string{
	"weight 0 never used":       "a policy refuses weight 0, and so does the command",
	"sum of min > N -> missing": "shares never add up to more than the replicas: the first minima are served",
	"three-way tie sticky":      "shares do not depend on what ran before",
}

func TestDivisionWithBounds(t *testing.T) {
	for _, tc := range readCases[struct {
		Name              string
		Weights, Min, Max map[string]int64
		Replicas          int64
		Expect            map[string]int64
		Overflow          int64
	}](t, "webster-minmax.json") {
		t.Run(tc.Name, func(t *testing.T) {
			if why, other := otherRules[tc.Name]; other {
				t.Skip(why)
			}
			a := divide(t, fmt.Sprintf("--replicas %d%s%s%s", tc.Replicas,
				list("weights", tc.Weights), list("min", tc.Min), list("max", tc.Max)))
			if diff := cmp.Diff(tc.Expect, a.shares()); diff != "" {
				t.Errorf("shares differ (-want +got):\n%s", diff)
			}
			if a.Unplaced != tc.Overflow {
				t.Errorf("unplaced %d, want %d", a.Unplaced, tc.Overflow)
			}
		})
	}
}

func readCases[C any](t *testing.T, file string) []C {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var table struct{ Cases []C }
	if err := json.Unmarshal(data, &table); err != nil {
		t.Fatal(err)
	}
	if len(table.Cases) == 0 {
		t.Fatalf("no cases in %s", file)
	}
	return table.Cases
}

// list writes a flag with its numbers by cluster, nothing if there are none.
func list(flag string, numbers map[string]int64) string {
	if len(numbers) == 0 {
		return ""
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(numbers)) {
		parts = append(parts, name+"="+strconv.FormatInt(numbers[name], 10))
	}
	return " --" + flag + " " + strings.Join(parts, ",")
}

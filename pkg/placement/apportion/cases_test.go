// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apportion_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/placement/apportion"
)

// row is one row of a case table, whatever table it is from.
type row struct {
	clusters     []apportion.Cluster
	replicas     int64
	want         map[string]int64
	wantUnplaced int64
}

// contradicting names the rows that ask for something else than the one seat
// order, and says why. The test insists that they do contradict.
var contradicting = map[string]string{
	"karmada-webster/custom tie-breaker returns false, expect custom tie-breaker controls seat": "breaks ties by the larger name",
	"karmada-dispenser-webster/brand new assign 5 replicas with odd uuid":                       "breaks ties by a hash of the workload's UID",
	"own-webster-minmax/sum of min > N -> missing":                                              "hands out more than N; the shares are the first N seats",
	"own-webster-minmax/three-way tie sticky":                                                   "breaks ties by who held the seat before; the seat order has no memory",
}

func TestCaseTables(t *testing.T) {
	rows := map[string]row{}
	for _, load := range []func(*testing.T, map[string]row){
		initialRows("karmada-webster"), initialRows("karmada-dispenser-webster"),
		stabilityRows, comparisonRows, minMaxRows,
	} {
		load(t, rows)
	}
	for name := range contradicting {
		if _, ok := rows[name]; !ok {
			t.Errorf("%q is not in the case tables", name)
		}
	}
	for name, tc := range rows {
		t.Run(name, func(t *testing.T) {
			o := mustOrder(t, tc.clusters)
			shares, unplaced := o.Shares(tc.replicas)
			diff := cmp.Diff(tc.want, byName(o, shares)) + cmp.Diff(tc.wantUnplaced, unplaced)
			switch reason := contradicting[name]; {
			case reason == "" && diff != "":
				t.Errorf("shares of %d replicas (-want +got):\n%s", tc.replicas, diff)
			case reason != "" && diff == "":
				t.Errorf("the row is listed as contradicting (%s), but holds", reason)
			}
		})
	}
}

func TestSeatOrderTable(t *testing.T) {
	var table struct {
		Cases []struct {
			Weights, Min, Max map[string]int64
			SeatOrder         []string `json:"seat_order"`
		}
	}
	readTable(t, "own-seat-order", &table)
	for _, tc := range table.Cases {
		t.Run(fmt.Sprint(tc.Weights, tc.Min), func(t *testing.T) {
			o := mustOrder(t, clustersOf(tc.Weights, tc.Min, tc.Max))
			var got []string
			for _, c := range o.Seats(int64(len(tc.SeatOrder))) {
				got = append(got, o.Name(int(c)))
			}
			if diff := cmp.Diff(tc.SeatOrder, got); diff != "" {
				t.Errorf("seat order (-want +got):\n%s", diff)
			}
		})
	}
}

// initialRows returns how to load a table of seats given to parties that may have
// some already. Where the rule has no memory, the result is the share of the total.
func initialRows(table string) func(*testing.T, map[string]row) {
	return func(t *testing.T, rows map[string]row) {
		t.Helper()
		loadInitialRows(t, table, rows)
	}
}

func loadInitialRows(t *testing.T, table string, rows map[string]row) {
	t.Helper()
	var content struct {
		Cases []struct {
			Name    string
			New     int64
			Weights json.RawMessage // an empty list instead of an object if there are none
			Initial map[string]int64
			Expect  map[string]int64
		}
	}
	readTable(t, table, &content)
	for _, c := range content.Cases {
		if c.Expect == nil { // nothing to share over is refused: TestNewOrderRefuses
			continue
		}
		var weights map[string]int64
		if err := json.Unmarshal(c.Weights, &weights); err != nil {
			t.Fatalf("%s/%s: %v", table, c.Name, err)
		}
		r := row{clusters: clustersOf(weights, nil, nil), replicas: c.New, want: c.Expect}
		for _, n := range c.Initial {
			r.replicas += n
		}
		rows[table+"/"+c.Name] = r
	}
}

// stabilityRows also hold what clusters had before; a rule without memory gives
// the same result.
func stabilityRows(t *testing.T, rows map[string]row) {
	t.Helper()
	var table struct {
		Cases []struct {
			Name  string
			Rules []struct {
				Match  []string
				Weight int64
			}
			Replicas int64
			Expect   map[string]int64
		}
	}
	readTable(t, "karmada-static-weight-stability", &table)
	for _, c := range table.Cases {
		weights := map[string]int64{}
		for _, rule := range c.Rules {
			for _, name := range rule.Match {
				weights[name] = rule.Weight
			}
		}
		rows["karmada-static-weight-stability/"+c.Name] = row{
			clusters: clustersOf(weights, nil, nil), replicas: c.Replicas, want: c.Expect,
		}
	}
}

func comparisonRows(t *testing.T, rows map[string]row) {
	t.Helper()
	var table struct {
		Cases []struct {
			Weights map[string]int64
			ByN     [][]int64 `json:"by_n"`
		}
	}
	readTable(t, "own-apportionment-comparison", &table)
	for _, c := range table.Cases {
		clusters := clustersOf(c.Weights, nil, nil)
		for n, shares := range c.ByN {
			want := map[string]int64{}
			for i, s := range shares {
				want[clusters[i].Name] = s
			}
			rows[fmt.Sprintf("own-apportionment-comparison/%v N=%d", c.Weights, n)] = row{
				clusters: clusters, replicas: int64(n), want: want,
			}
		}
	}
}

func minMaxRows(t *testing.T, rows map[string]row) {
	t.Helper()
	var table struct {
		Cases []struct {
			Name              string
			Weights, Min, Max map[string]int64
			Replicas          int64
			Expect            map[string]int64
			Overflow          int64
		}
	}
	readTable(t, "own-webster-minmax", &table)
	for _, c := range table.Cases {
		rows["own-webster-minmax/"+c.Name] = row{
			clusters: clustersOf(c.Weights, c.Min, c.Max), replicas: c.Replicas, want: c.Expect, wantUnplaced: c.Overflow,
		}
	}
}

func readTable(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("reading %s: %v", name, err)
	}
}

// clustersOf returns the clusters by name.
func clustersOf(weights, minimum, maximum map[string]int64) []apportion.Cluster {
	clusters := make([]apportion.Cluster, 0, len(weights))
	for _, name := range slices.Sorted(maps.Keys(weights)) {
		c := apportion.Cluster{Name: name, Weight: weights[name], Min: minimum[name]}
		if m, ok := maximum[name]; ok {
			c.Max = &m
		}
		clusters = append(clusters, c)
	}
	return clusters
}

func mustOrder(t *testing.T, clusters []apportion.Cluster) *apportion.Order {
	t.Helper()
	o, err := apportion.NewOrder(clusters)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func byName(o *apportion.Order, shares []int64) map[string]int64 {
	m := map[string]int64{}
	for i, s := range shares {
		m[o.Name(i)] = s
	}
	return m
}

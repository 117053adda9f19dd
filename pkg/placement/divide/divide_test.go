// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package divide_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"

	"berth.dev/berth/pkg/placement/divide"
)

// holding returns clusters that hold replicas and have no room.
func holding(held ...int64) []divide.Target {
	list := weighted(make([]int64, len(held))...)
	for i := range list {
		list[i].Held = held[i]
	}
	return list
}

// preferring sets the preferences of clusters.
func preferring(clusters []divide.Target, preferences ...int64) []divide.Target {
	for i, p := range preferences {
		clusters[i].Preference = p
	}
	return clusters
}

type division struct {
	demand       divide.Load
	clusters     []divide.Target
	want         []int64
	wantUnplaced int64
}

func (tc division) run(t *testing.T) {
	t.Helper()
	d, err := divide.Divide(tc.demand, tc.clusters)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tc.want, d.Shares); diff != "" {
		t.Errorf("shares differ (-want +got):\n%s", diff)
	}
	if d.Unplaced != tc.wantUnplaced {
		t.Errorf("unplaced %d, want %d", d.Unplaced, tc.wantUnplaced)
	}
}

func TestDivide(t *testing.T) {
	closed := holding(2, 5)
	closed[0].Closed = true
	both := roomy(10, 10, 3)
	both[2].Held = 4
	tests := map[string]division{
		"replication gives all to each cluster": {
			demand: divide.Load{Strategy: divide.Replication, Replicas: 3}, clusters: roomy(0, 9), want: []int64{3, 3},
		},
		"static gives a cluster of weight 0 nothing": {
			demand: divide.Load{Strategy: divide.Static, Replicas: 3}, clusters: weighted(0, 1), want: []int64{0, 3},
		},
		"static does not overflow at the largest numbers": {
			demand:   divide.Load{Strategy: divide.Static, Replicas: math.MaxInt64},
			clusters: weighted(math.MaxInt32, math.MaxInt32), want: []int64{math.MaxInt64/2 + 1, math.MaxInt64 / 2},
		},
		"spread does not overflow at the largest numbers": {
			demand:   divide.Load{Strategy: divide.Spread, Replicas: math.MaxInt64},
			clusters: roomy(math.MaxInt32, math.MaxInt32), want: []int64{math.MaxInt32, math.MaxInt32},
			wantUnplaced: math.MaxInt64 - 2*math.MaxInt32,
		},
		"spread over thousands of replicas and half a million places": {
			demand:   divide.Load{Strategy: divide.Spread, Replicas: 5000},
			clusters: roomy(550_000, 550_000, 1_100_000), want: []int64{1250, 1250, 2500},
		},
		"what finds no room is told": {
			demand: divide.Load{Strategy: divide.Spread, Replicas: 6}, clusters: roomy(1, 2, 0), want: []int64{1, 2, 0}, wantUnplaced: 3,
		},
		"a cluster without room does not stop the others": {
			demand: divide.Load{Strategy: divide.Spread, Replicas: 4}, clusters: roomy(0, 5, 5), want: []int64{0, 2, 2},
		},
		"no room anywhere": {
			demand: divide.Load{Strategy: divide.Binpack, Replicas: 4}, clusters: roomy(0, 0), want: []int64{0, 0}, wantUnplaced: 4,
		},
		"binpack fills the largest first": {
			demand: divide.Load{Strategy: divide.Binpack, Replicas: 12}, clusters: roomy(6, 8, 10), want: []int64{0, 2, 10},
		},
		"binpack fills what is in use before it takes another cluster": {
			demand: divide.Load{Strategy: divide.Binpack, Replicas: 9}, clusters: both, want: []int64{2, 0, 7},
		},
		"binpack empties the smallest when it shrinks": {
			demand: divide.Load{Strategy: divide.Binpack, Replicas: 7}, clusters: holding(2, 6, 3), want: []int64{0, 6, 1},
		},
		"spread leaves clusters as they are and shares out the difference": {
			demand: divide.Load{Strategy: divide.Spread, Replicas: 7}, clusters: both, want: []int64{2, 1, 4},
		},
		"a rebalance shares out by free and held": {
			demand:   divide.Load{Strategy: divide.Spread, Replicas: 9, Rebalance: true},
			clusters: both, want: []int64{4, 3, 2},
		},
		"a closed cluster shrinks first": {
			demand: divide.Load{Strategy: divide.Spread, Replicas: 4}, clusters: closed, want: []int64{0, 4},
		},
		"a closed cluster keeps what it has while nothing shrinks": {
			demand: divide.Load{Strategy: divide.Spread, Replicas: 9}, clusters: closed, want: []int64{2, 5}, wantUnplaced: 2,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.run(t) })
	}
}

func TestDivideChoosesClusters(t *testing.T) {
	used := roomy(5, 1, 10)
	used[0].Held = 2
	leaving := preferring(holding(3, 3, 3), 9)
	leaving[0].Closed = true
	tests := map[string]division{
		"at least so many clusters": {
			demand: divide.Load{Strategy: divide.Binpack, Replicas: 12, MinClusters: 3}, clusters: roomy(6, 8, 10), want: []int64{1, 1, 10},
		},
		"at least so many clusters of different size": {
			demand: divide.Load{Strategy: divide.Spread, Replicas: 4, MinClusters: 2}, clusters: roomy(100, 1), want: []int64{3, 1},
		},
		"not more clusters than replicas": {
			demand: divide.Load{Strategy: divide.Spread, Replicas: 2, MinClusters: 3}, clusters: roomy(5, 5, 5), want: []int64{1, 1, 0},
		},
		"at most so many clusters": {
			demand: divide.Load{Strategy: divide.Spread, Replicas: 6, MaxClusters: 2}, clusters: roomy(3, 6, 9), want: []int64{0, 2, 4},
		},
		"at most one cluster, and it is too small": {
			demand: divide.Load{Strategy: divide.Binpack, Replicas: 6, MaxClusters: 1}, clusters: roomy(3, 5), want: []int64{0, 5}, wantUnplaced: 1,
		},
		"too many clusters in use shrink to the largest": {
			demand: divide.Load{Strategy: divide.Spread, Replicas: 6, MaxClusters: 1}, clusters: holding(2, 5, 2), want: []int64{1, 5, 0},
		},
		"too many clusters in use stay while nothing shrinks": {
			demand: divide.Load{Strategy: divide.Spread, Replicas: 9, MaxClusters: 1}, clusters: holding(2, 5, 2), want: []int64{2, 5, 2},
		},
		"shrinking keeps a replica in so many clusters": {
			demand: divide.Load{Strategy: divide.Binpack, Replicas: 6, MinClusters: 3}, clusters: holding(2, 6, 3), want: []int64{1, 4, 1},
		},
		"preferred clusters are filled before the others": {
			demand: divide.Load{Strategy: divide.Spread, Replicas: 9}, clusters: preferring(roomy(20, 3, 3), 0, 5, 5), want: []int64{3, 3, 3},
		},
		"what is preferred least shrinks first": {
			demand: divide.Load{Strategy: divide.Spread, Replicas: 5}, clusters: preferring(holding(2, 3, 3), 5, 1, 5), want: []int64{2, 0, 3},
		},
		"preference does not leave replicas without a place": {
			demand:   divide.Load{Strategy: divide.Spread, Replicas: 8, MaxClusters: 1},
			clusters: preferring(roomy(3, 10), 5), want: []int64{0, 8},
		},
		"preference chooses among clusters that are large enough": {
			demand:   divide.Load{Strategy: divide.Spread, Replicas: 8, MaxClusters: 1},
			clusters: preferring(roomy(8, 10), 5), want: []int64{8, 0},
		},
		"what is in use counts when a further cluster is chosen": {
			demand:   divide.Load{Strategy: divide.Spread, Replicas: 8, MaxClusters: 2},
			clusters: preferring(used, 0, 5, 0), want: []int64{7, 1, 0},
		},
		"the further cluster that has to be there is the preferred one": {
			demand:   divide.Load{Strategy: divide.Binpack, Replicas: 4, MinClusters: 2},
			clusters: preferring(roomy(9, 2, 9), 5, 1), want: []int64{3, 1, 0},
		},
		"of three in use, two that have to stay are not the closed one": {
			demand: divide.Load{Strategy: divide.Spread, Replicas: 2, MinClusters: 2}, clusters: leaving, want: []int64{0, 1, 1},
		},
		"a cluster that is preferred less may have to be there": {
			demand:   divide.Load{Strategy: divide.Binpack, Replicas: 4, MinClusters: 2},
			clusters: preferring(roomy(9, 9), 5), want: []int64{3, 1},
		},
		"no replicas": {
			demand: divide.Load{Strategy: divide.Spread, Replicas: 0, MinClusters: 2}, clusters: holding(2, 3), want: []int64{0, 0},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.run(t) })
	}
}

func TestDivideRefuses(t *testing.T) {
	spread := divide.Load{Strategy: divide.Spread, Replicas: 1}
	tests := map[string]struct {
		demand   divide.Load
		clusters []divide.Target
		want     string
	}{
		"an unknown strategy":     {divide.Load{Strategy: "Dice"}, roomy(1), `unknown strategy "Dice"`},
		"no strategy":             {divide.Load{}, roomy(1), `unknown strategy ""`},
		"a negative number":       {divide.Load{Strategy: divide.Static, Replicas: -1}, weighted(1), "replicas -1 is negative"},
		"no cluster":              {spread, nil, "no clusters"},
		"no name":                 {spread, []divide.Target{{}}, "has no name"},
		"a cluster twice":         {spread, []divide.Target{{Name: "a"}, {Name: "a"}}, `"a" is listed twice`},
		"weights that are all 0":  {divide.Load{Strategy: divide.Static, Replicas: 1}, weighted(0, 0), "all weights are 0"},
		"a negative weight":       {spread, weighted(-1), "weight -1"},
		"negative room":           {spread, roomy(-1), "free capacity -1"},
		"too much room":           {spread, roomy(math.MaxInt32 + 1), "free capacity 2147483648"},
		"a negative number held":  {spread, holding(-1), "held -1"},
		"fewer than none":         {divide.Load{Strategy: divide.Spread, MinClusters: -1}, roomy(1), "minClusters -1"},
		"less than no cluster":    {divide.Load{Strategy: divide.Spread, MaxClusters: -1}, roomy(1), "maxClusters -1"},
		"more at least than most": {divide.Load{Strategy: divide.Binpack, MinClusters: 3, MaxClusters: 2}, roomy(1), "minClusters 3 is larger than maxClusters 2"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d, err := divide.Divide(tc.demand, tc.clusters)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("shares %v, error %v, want %q", d.Shares, err, tc.want)
			}
		})
	}
}

func TestWeights(t *testing.T) {
	clusters := []labels.Set{{"a": "1"}, {"a": "1", "b": "1"}, {"c": "1"}}
	weights, selected, err := divide.Weights(clusters, []divide.Subscriber{
		{Selector: labels.SelectorFromSet(labels.Set{"a": "1"}), Weight: 2},
		{Selector: labels.SelectorFromSet(labels.Set{"b": "1"}), Weight: 3},
		{Selector: labels.SelectorFromSet(labels.Set{"c": "1"})},
		{Selector: labels.Nothing(), Weight: 9},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{2, 5, 0}, weights); diff != "" {
		t.Errorf("weights differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]bool{true, true, true}, selected); diff != "" {
		t.Errorf("selected differ (-want +got):\n%s", diff)
	}
}

func TestWeightsRefuse(t *testing.T) {
	tests := map[string]struct {
		weights []int64
		want    string
	}{
		"a negative weight": {[]int64{1, -1}, "subscriber 1: weight -1"},
		"too large a sum":   {[]int64{math.MaxInt32, 1}, "subscriber 1: the weights of a cluster add up to more than 2147483647"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var subscribers []divide.Subscriber
			for _, w := range tc.weights {
				subscribers = append(subscribers, divide.Subscriber{Selector: labels.Everything(), Weight: w})
			}
			if _, _, err := divide.Weights([]labels.Set{nil}, subscribers); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

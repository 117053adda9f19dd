// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package divide_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"

	"berth.dev/berth/pkg/placement/divide"
)

// The files in testdata hold what Clusternet's unit tests expect, and what follows from its code.

func readCases(t *testing.T, file string, into any) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// mustDivide returns the division, which is checked to add up.
func mustDivide(t *testing.T, demand divide.Load, clusters []divide.Target) divide.Division {
	t.Helper()
	d, err := divide.Divide(demand, clusters)
	if err != nil {
		t.Fatal(err)
	}
	if got := sum(d.Shares) + d.Unplaced; got != demand.Replicas {
		t.Fatalf("shares %v and unplaced %d add up to %d, want %d", d.Shares, d.Unplaced, got, demand.Replicas)
	}
	return d
}

func sum(numbers []int64) (total int64) {
	for _, n := range numbers {
		total += n
	}
	return total
}

func names(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = "c" + string(rune('a'+i/26)) + string(rune('a'+i%26))
	}
	return list
}

// weighted returns clusters with weights, and those with room.
func weighted(weights ...int64) []divide.Target {
	list := make([]divide.Target, len(weights))
	for i, name := range names(len(weights)) {
		list[i] = divide.Target{Name: name, Weight: weights[i]}
	}
	return list
}

func roomy(free ...int64) []divide.Target {
	list := weighted(make([]int64, len(free))...)
	for i := range list {
		list[i].Free = free[i]
	}
	return list
}

func TestStaticCasesOfClusternet(t *testing.T) {
	var table struct {
		Divide []struct {
			Name          string
			Desired       int64
			Weights, Want []int64
			Webster       []int64 `json:"webster_would_give"`
		}
		NotMonotone []struct {
			Weights []int64
			Better  struct {
				At4 []int64 `json:"at_4"`
				At5 []int64 `json:"at_5"`
			} `json:"want_better"`
		} `json:"not_monotone"`
	}
	readCases(t, "static-dividing.json", &table)
	for _, tc := range table.Divide {
		t.Run(tc.Name, func(t *testing.T) {
			want := tc.Want
			if tc.Webster != nil {
				want = tc.Webster
			}
			d := mustDivide(t, divide.Load{Strategy: divide.Static, Replicas: tc.Desired}, weighted(tc.Weights...))
			if diff := cmp.Diff(want, d.Shares); diff != "" {
				t.Errorf("shares differ (-want +got):\n%s", diff)
			}
		})
	}
	for _, tc := range table.NotMonotone {
		for replicas, want := range map[int64][]int64{4: tc.Better.At4, 5: tc.Better.At5} {
			if want == nil {
				continue
			}
			d := mustDivide(t, divide.Load{Strategy: divide.Static, Replicas: replicas}, weighted(tc.Weights...))
			if diff := cmp.Diff(want, d.Shares); diff != "" {
				t.Errorf("%d replicas at %v: shares differ (-want +got):\n%s", replicas, tc.Weights, diff)
			}
		}
	}
}

func TestWeightsOfSubscribersInClusternet(t *testing.T) {
	var table struct {
		Assign struct {
			ClusterLabels map[string]map[string]string `json:"cluster_labels"`
			Cases         []struct {
				Name        string
				Selected    []string
				Subscribers []struct {
					Match  map[string]string
					Weight int64
				}
				Feeds map[string]int64
				Want  map[string][]int64
			}
		}
	}
	readCases(t, "static-dividing.json", &table)
	for _, tc := range table.Assign.Cases {
		t.Run(tc.Name, func(t *testing.T) {
			subscribers := make([]divide.Subscriber, 0, len(tc.Subscribers))
			for _, s := range tc.Subscribers {
				subscribers = append(subscribers, divide.Subscriber{Selector: labels.SelectorFromSet(s.Match), Weight: s.Weight})
			}
			sets := make([]labels.Set, 0, len(tc.Selected))
			for _, name := range tc.Selected {
				sets = append(sets, table.Assign.ClusterLabels[name])
			}
			weights, selected, err := divide.Weights(sets, subscribers)
			if err != nil || slices.Contains(selected, false) {
				t.Fatalf("selected %v, error %v", selected, err)
			}
			clusters := make([]divide.Target, len(weights))
			for i, name := range tc.Selected {
				clusters[i] = divide.Target{Name: name, Weight: weights[i]}
			}
			for _, feed := range slices.Sorted(maps.Keys(tc.Feeds)) {
				d, err := divide.Divide(divide.Load{Strategy: divide.Static, Replicas: tc.Feeds[feed]}, clusters)
				if wantError := tc.Want == nil; wantError != (err != nil) {
					t.Fatalf("shares %v, error %v", d.Shares, err)
				}
				if diff := cmp.Diff(tc.Want[feed], d.Shares); diff != "" {
					t.Errorf("shares of %s differ (-want +got):\n%s", feed, diff)
				}
			}
		})
	}
}

func TestDynamicCasesOfClusternet(t *testing.T) {
	var table struct {
		Divide []struct {
			Desired       int64
			Weights, Want []int64
		}
	}
	readCases(t, "dynamic-dividing.json", &table)
	for _, tc := range table.Divide {
		// A negative number is taken away from what is there, a positive one is placed in free capacity.
		demand, clusters := divide.Load{Strategy: divide.Spread, Replicas: tc.Desired}, roomy(tc.Weights...)
		want := slices.Clone(tc.Want)
		if tc.Desired < 0 {
			demand.Replicas += sum(tc.Weights)
			for i := range clusters {
				clusters[i].Held, clusters[i].Free = tc.Weights[i], 0
				want[i] += tc.Weights[i]
			}
		}
		d := mustDivide(t, demand, clusters)
		if diff := cmp.Diff(want, d.Shares); diff != "" {
			t.Errorf("%d in %v: shares differ (-want +got):\n%s", tc.Desired, tc.Weights, diff)
		}
	}
}

type status struct {
	BindingClusters []string
	Replicas        map[string][]int64
}

type assignment struct {
	Name, Strategy string
	Status         *status
	Desired        map[string]*int64
	Available      map[string]json.RawMessage
	Want           map[string]json.RawMessage
	Better         map[string]json.RawMessage `json:"want_better"`
}

func decode[T any](t *testing.T, raw json.RawMessage) (value T) {
	t.Helper()
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &value); err != nil {
			t.Fatal(err)
		}
	}
	return value
}

// clusters returns what a feed has to do with: the clusters that hold some of it and those that are
// available.
func (a *assignment) clusters(t *testing.T, feed string) []divide.Target {
	t.Helper()
	available := decode[[]string](t, a.Available["clusters"])
	free := decode[[]int64](t, a.Available[feed])
	all := slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(a.Status.BindingClusters), available...))))
	list := make([]divide.Target, 0, len(all))
	for _, name := range all {
		c := divide.Target{Name: name, Closed: true}
		if i := slices.Index(a.Status.BindingClusters, name); i >= 0 && i < len(a.Status.Replicas[feed]) {
			c.Held = a.Status.Replicas[feed][i]
		}
		if i := slices.Index(available, name); i >= 0 {
			c.Free, c.Closed = free[i], false
		}
		list = append(list, c)
	}
	return list
}

func TestAssignmentCasesOfClusternet(t *testing.T) {
	var table struct {
		Assign struct {
			Template status `json:"status_template"`
			Cases    []assignment
			More     []assignment
		}
	}
	readCases(t, "dynamic-dividing.json", &table)
	for _, tc := range append(table.Assign.Cases, table.Assign.More...) {
		t.Run(tc.Name, func(t *testing.T) {
			if tc.Status == nil {
				tc.Status = &table.Assign.Template
			}
			for _, feed := range slices.Sorted(maps.Keys(tc.Desired)) {
				if tc.Desired[feed] == nil {
					continue // no workload: nothing is divided, and nothing is asked of this package
				}
				strategy := divide.Spread
				if tc.Strategy != "" {
					strategy = divide.Strategy(tc.Strategy)
				}
				d := mustDivide(t, divide.Load{Strategy: strategy, Replicas: *tc.Desired[feed]}, tc.clusters(t, feed))
				if diff := cmp.Diff(tc.wanted(t, feed), used(tc.clusters(t, feed), d.Shares)); diff != "" {
					t.Errorf("shares of %s differ (-want +got):\n%s", feed, diff)
				}
			}
		})
	}
}

// wanted returns the replicas of each cluster that gets any.
func (a *assignment) wanted(t *testing.T, feed string) map[string]int64 {
	t.Helper()
	want := map[string]int64{}
	if a.Better != nil {
		for name := range a.Better {
			if name != "or" {
				want[name] = decode[int64](t, a.Better[name])
			}
		}
		return want
	}
	names := decode[[]string](t, a.Want["bindingClusters"])
	for i, n := range decode[[]int64](t, a.Want[feed]) {
		if n > 0 {
			want[names[i]] = n
		}
	}
	return want
}

func used(clusters []divide.Target, shares []int64) map[string]int64 {
	got := map[string]int64{}
	for i, n := range shares {
		if n > 0 {
			got[clusters[i].Name] = n
		}
	}
	return got
}

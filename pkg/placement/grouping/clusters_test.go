// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/placement/grouping"
)

type weight = berthv1alpha1.StaticClusterWeight

// order returns the seat order of a policy.
func order(policy *berthv1alpha1.PropagationPolicy, cordoned ...string) (*apportion.Order, error) {
	var all []*berthv1alpha1.Cluster
	for _, name := range cordoned {
		c := &berthv1alpha1.Cluster{}
		c.Name, c.Spec.Unschedulable = name, true
		all = append(all, c)
	}
	layout, err := grouping.NewLayout(&policy.Spec.Placement, "shop/web", grouping.NewSites(all, nil))
	if err != nil {
		return nil, err
	}
	return layout.Order()
}

func weighted(entries ...weight) *berthv1alpha1.PropagationPolicy {
	p := &berthv1alpha1.PropagationPolicy{}
	p.Spec.Placement.StaticWeightList = entries
	return p
}

func TestOrder(t *testing.T) {
	tests := map[string]struct {
		policy   *berthv1alpha1.PropagationPolicy
		replicas int64
		want     map[string]int64
	}{
		"two clusters at 2:3": {
			policy:   weighted(weight{ClusterNames: []string{"beijing"}, Weight: 2}, weight{ClusterNames: []string{"hangzhou"}, Weight: 3}),
			replicas: 5,
			want:     map[string]int64{"beijing": 2, "hangzhou": 3},
		},
		"each named cluster gets the weight and the bounds": {
			policy: weighted(
				weight{ClusterNames: []string{"a", "b"}, Weight: 1, Min: new(int32(2))},
				weight{ClusterNames: []string{"c", "d"}, Weight: 7, Max: new(int32(1))},
			),
			replicas: 9,
			want:     map[string]int64{"a": 4, "b": 3, "c": 1, "d": 1},
		},
		"numbers first, weights share what is left": {
			policy: weighted(
				weight{ClusterNames: []string{"a", "b"}, Weight: 1, Min: new(int32(1))},
				weight{ClusterNames: []string{"c", "d"}, Replicas: new(int32(3))}, weight{ClusterNames: []string{"e"}, Replicas: new(int32(0))},
			),
			replicas: 11,
			want:     map[string]int64{"a": 3, "b": 2, "c": 3, "d": 3, "e": 0},
		},
		"too few for the numbers: entry after entry": {
			policy: weighted(
				weight{ClusterNames: []string{"z"}, Replicas: new(int32(4))}, weight{ClusterNames: []string{"a", "b"}, Replicas: new(int32(3))},
				weight{ClusterNames: []string{"c"}, Weight: 9, Min: new(int32(2))},
			),
			replicas: 7,
			want:     map[string]int64{"a": 2, "b": 1, "c": 0, "z": 4},
		},
		"more than the numbers": {
			policy:   weighted(weight{ClusterNames: []string{"a", "b"}, Replicas: new(int32(2))}),
			replicas: 7,
			want:     map[string]int64{"a": 2, "b": 2},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o, err := order(tc.policy)
			if err != nil {
				t.Fatal(err)
			}
			shares, _ := o.Shares(tc.replicas)
			got := map[string]int64{}
			for i, n := range shares {
				got[o.Name(i)] = n
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("shares (-want +got):\n%s", diff)
			}
		})
	}
}

func TestACordonedClusterGivesItsShareToTheOthers(t *testing.T) {
	policy := weighted(
		weight{ClusterNames: []string{"a"}, Weight: 2, Min: new(int32(1))}, weight{ClusterNames: []string{"b"}, Weight: 3},
		weight{ClusterNames: []string{"c"}, Replicas: new(int32(2))},
	)
	tests := map[string]struct {
		cordoned     []string
		want         []int64
		wantUnplaced int64
	}{
		"none":                  {want: []int64{2, 3, 2}},
		"one of no policy":      {cordoned: []string{"z"}, want: []int64{2, 3, 2}},
		"one with a weight":     {cordoned: []string{"a"}, want: []int64{0, 5, 2}},
		"one with a number":     {cordoned: []string{"c"}, want: []int64{3, 4, 0}},
		"all":                   {cordoned: []string{"a", "b", "c"}, want: []int64{0, 0, 0}, wantUnplaced: 7},
		"all that have weights": {cordoned: []string{"a", "b"}, want: []int64{0, 0, 2}, wantUnplaced: 5},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o, err := order(policy, tc.cordoned...)
			if err != nil {
				t.Fatal(err)
			}
			shares, unplaced := o.Shares(7)
			if diff := cmp.Diff(tc.want, shares); diff != "" || unplaced != tc.wantUnplaced {
				t.Errorf("unplaced %d, want %d; shares (-want +got):\n%s", unplaced, tc.wantUnplaced, diff)
			}
		})
	}
	if _, err := order(weighted(weight{ClusterNames: []string{"a", "a"}, Weight: 1}), "a"); err == nil {
		t.Error("a cluster that is listed twice is taken while it is cordoned")
	}
}

func TestOrderRefuses(t *testing.T) {
	many := make([]string, grouping.MaxClusters)
	for i := range many {
		many[i] = fmt.Sprintf("cluster-%d", i)
	}
	tests := map[string]struct {
		policy  *berthv1alpha1.PropagationPolicy
		wantErr string
	}{
		"no clusters": {weighted(), "no clusters"},
		"a weight of 0": {
			weighted(weight{ClusterNames: []string{"a"}, Weight: 1}, weight{ClusterNames: []string{"b"}}),
			"staticWeightList[1]: weight 0 is less than 1",
		},
		"a negative weight": {weighted(weight{ClusterNames: []string{"a"}, Weight: -3}), "weight -3 is less than 1"},
		"a weight that is too large": {
			weighted(weight{ClusterNames: []string{"a"}, Weight: math.MaxInt64}), `cluster "a": weight 9223372036854775807`,
		},
		"a weight and a number": {
			weighted(weight{ClusterNames: []string{"a"}, Weight: 1, Replicas: new(int32(1))}),
			"staticWeightList[0]: replicas is given together with weight, min or max",
		},
		"a negative number": {weighted(weight{ClusterNames: []string{"a"}, Replicas: new(int32(-1))}), `cluster "a": min -1 is negative`},
		"a cluster in two entries": {
			weighted(weight{ClusterNames: []string{"a"}, Weight: 1}, weight{ClusterNames: []string{"b", "a"}, Weight: 2}),
			`cluster "a" is listed twice`,
		},
		"a min above the max": {
			weighted(weight{ClusterNames: []string{"a"}, Weight: 1, Min: new(int32(2)), Max: new(int32(1))}),
			`cluster "a": min 2 is larger than max 1`,
		},
		"more clusters than the status can tell of": {
			weighted(weight{ClusterNames: many, Weight: 1}, weight{ClusterNames: []string{"a"}, Weight: 1}),
			"staticWeightList[1]: more than 1000 clusters",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := order(tc.policy)
			if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("Order = %v, want an error with %q", err, tc.wantErr)
			}
		})
	}
	if _, err := order(weighted(weight{ClusterNames: many, Weight: apportion.MaxWeight})); err != nil {
		t.Errorf("Order of %d clusters: %v", len(many), err)
	}
}

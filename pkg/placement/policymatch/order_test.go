// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policymatch_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/placement/policymatch"
)

type weight = berthv1alpha1.StaticClusterWeight

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
			o, err := policymatch.Order(tc.policy)
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

func TestOrderRefuses(t *testing.T) {
	many := make([]string, policymatch.MaxClusters)
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
			_, err := policymatch.Order(tc.policy)
			if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("Order = %v, want an error with %q", err, tc.wantErr)
			}
		})
	}
	if _, err := policymatch.Order(weighted(weight{ClusterNames: many, Weight: apportion.MaxWeight})); err != nil {
		t.Errorf("Order of %d clusters: %v", len(many), err)
	}
}

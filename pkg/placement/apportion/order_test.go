// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apportion_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/placement/apportion"
)

func TestNewOrderRefuses(t *testing.T) {
	tests := map[string]struct {
		clusters []apportion.Cluster
		wantErr  string
	}{
		"nothing to share over": {
			wantErr: "no clusters",
		},
		"a cluster without a name": {
			clusters: []apportion.Cluster{{Name: "a", Weight: 1}, {Weight: 1}},
			wantErr:  "cluster at index 1 has no name",
		},
		"a name given twice": {
			clusters: []apportion.Cluster{{Name: "a", Weight: 1}, {Name: "b", Weight: 1}, {Name: "a", Weight: 2}},
			wantErr:  `cluster "a" is listed twice`,
		},
		"a negative weight": {
			clusters: []apportion.Cluster{{Name: "a", Weight: -1}},
			wantErr:  `cluster "a": weight -1 is not in the range [0, 2147483647]`,
		},
		"a weight that is too large": {
			clusters: []apportion.Cluster{{Name: "a", Weight: apportion.MaxWeight + 1}},
			wantErr:  `cluster "a": weight 2147483648 is not in the range`,
		},
		"a negative min": {
			clusters: []apportion.Cluster{{Name: "a", Weight: 1, Min: -2}},
			wantErr:  `cluster "a": min -2 is negative`,
		},
		"a negative max": {
			clusters: []apportion.Cluster{{Name: "a", Weight: 1, Max: new(int64(-1))}},
			wantErr:  `cluster "a": max -1 is negative`,
		},
		"a min above the max": {
			clusters: []apportion.Cluster{{Name: "a", Weight: 1, Min: 3, Max: new(int64(2))}},
			wantErr:  `cluster "a": min 3 is larger than max 2`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := apportion.NewOrder(tc.clusters)
			if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("NewOrder = %v, want an error with %q", err, tc.wantErr)
			}
		})
	}
}

func TestShares(t *testing.T) {
	tests := map[string]struct {
		clusters     []apportion.Cluster
		replicas     int64
		want         []int64
		wantUnplaced int64
	}{
		"five replicas at 2:3": {
			clusters: []apportion.Cluster{{Name: "beijing", Weight: 2}, {Name: "hangzhou", Weight: 3}},
			replicas: 5,
			want:     []int64{2, 3},
		},
		"a negative number counts as none": {
			clusters: []apportion.Cluster{{Name: "a", Weight: 1}},
			replicas: math.MinInt64,
			want:     []int64{0},
		},
		"the largest number there is": {
			clusters: []apportion.Cluster{{Name: "a", Weight: 1}, {Name: "b", Weight: 1}},
			replicas: math.MaxInt64,
			want:     []int64{math.MaxInt64/2 + 1, math.MaxInt64 / 2},
		},
		"a max of 0 keeps a cluster empty": {
			clusters: []apportion.Cluster{{Name: "a", Weight: 9, Max: new(int64(0))}, {Name: "b", Weight: 1}},
			replicas: 3,
			want:     []int64{0, 3},
		},
		"all clusters at their max": {
			clusters:     []apportion.Cluster{{Name: "a", Weight: 9, Max: new(int64(2))}, {Name: "b", Weight: 1, Max: new(int64(1))}},
			replicas:     7,
			want:         []int64{2, 1},
			wantUnplaced: 4,
		},
		"a weight of 0 gives the min only": {
			clusters: []apportion.Cluster{{Name: "a", Weight: 0, Min: 2}, {Name: "b", Weight: 1}},
			replicas: 7,
			want:     []int64{2, 5},
		},
		"nobody has a weight": {
			clusters:     []apportion.Cluster{{Name: "a"}, {Name: "b", Min: 1}},
			replicas:     3,
			want:         []int64{0, 1},
			wantUnplaced: 2,
		},
		"minima that do not fit are served by weight": {
			clusters: []apportion.Cluster{{Name: "a", Weight: 1, Min: 4}, {Name: "b", Weight: 3, Min: 4}},
			replicas: 4,
			want:     []int64{1, 3},
		},
		"minima whose sum is no int64": {
			clusters: []apportion.Cluster{
				{Name: "a", Weight: 1, Min: math.MaxInt64}, {Name: "b", Weight: 1, Min: math.MaxInt64}, {Name: "c", Weight: 1},
			},
			replicas: math.MaxInt64,
			want:     []int64{math.MaxInt64/2 + 1, math.MaxInt64 / 2, 0},
		},
		"the heavy cluster is capped early": {
			clusters: []apportion.Cluster{
				{Name: "a", Weight: apportion.MaxWeight, Max: new(int64(1))}, {Name: "b", Weight: 1},
			},
			replicas: 1 << 62,
			want:     []int64{1, 1<<62 - 1},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			shares, unplaced := mustOrder(t, tc.clusters).Shares(tc.replicas)
			if diff := cmp.Diff(tc.want, shares); diff != "" {
				t.Errorf("shares (-want +got):\n%s", diff)
			}
			if unplaced != tc.wantUnplaced {
				t.Errorf("unplaced = %d, want %d", unplaced, tc.wantUnplaced)
			}
		})
	}
}

func TestRanking(t *testing.T) {
	tests := map[string]struct {
		clusters []apportion.Cluster
		held     []int64
		want     []int32
	}{
		"the weight decides": {
			clusters: []apportion.Cluster{{Name: "a", Weight: 2}, {Name: "b", Weight: 3}},
			held:     []int64{0, 0},
			want:     []int32{1, 0},
		},
		"in a tie the cluster with fewer seats is first": {
			clusters: []apportion.Cluster{{Name: "a", Weight: 3}, {Name: "b", Weight: 1}},
			held:     []int64{1, 0},
			want:     []int32{1, 0},
		},
		"in a tie of equals the smaller name is first": {
			clusters: []apportion.Cluster{{Name: "b", Weight: 1}, {Name: "a", Weight: 1}},
			held:     []int64{4, 4},
			want:     []int32{1, 0},
		},
		"whoever is below the min is first, without a weight after those with one": {
			clusters: []apportion.Cluster{
				{Name: "a", Weight: 9}, {Name: "b", Weight: 0, Min: 1}, {Name: "c", Weight: 1, Min: 3},
			},
			held: []int64{0, 0, 2},
			want: []int32{2, 1, 0},
		},
		"whoever is at the max is left out": {
			clusters: []apportion.Cluster{{Name: "a", Weight: 9, Max: new(int64(2))}, {Name: "b", Weight: 1}},
			held:     []int64{2, 5},
			want:     []int32{1},
		},
		"products of weight and seats that agree in their lower 64 bits": {
			clusters: []apportion.Cluster{{Name: "a", Weight: 3 << 29}, {Name: "b", Weight: 1 << 29}},
			held:     []int64{1<<33 + 1, 1 << 33},
			want:     []int32{0, 1},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, mustOrder(t, tc.clusters).Ranking(tc.held)); diff != "" {
				t.Errorf("ranking (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOwnerOf(t *testing.T) {
	endless := []apportion.Cluster{{Name: "a", Weight: 2}, {Name: "b", Weight: 3}}
	full := []apportion.Cluster{{Name: "a", Weight: 1, Max: new(int64(1))}, {Name: "b", Min: 2}}
	tests := map[string]struct {
		clusters  []apportion.Cluster
		seat      int64
		wantOwner string // empty for no such seat
	}{
		"the first seat goes to the largest weight": {endless, 0, "b"},
		"the second seat":                            {endless, 1, "a"},
		"the last seat that a plan can lay out":      {endless, apportion.MaxSeats - 1, "b"},
		"a seat beyond what a plan can lay out":      {endless, apportion.MaxSeats, ""},
		"a negative number":                          {endless, -1, ""},
		"the largest number":                         {endless, math.MaxInt64, ""},
		"a minimum without a weight, in a stage":     {full, 0, "b"},
		"the last seat of all":                       {full, 2, "a"},
		"a seat beyond the maximum of every cluster": {full, 3, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := mustOrder(t, tc.clusters)
			got := ""
			if owner, found := o.OwnerOf(tc.seat); found {
				got = o.Name(owner)
			}
			if got != tc.wantOwner {
				t.Errorf("OwnerOf(%d) = %q, want %q", tc.seat, got, tc.wantOwner)
			}
		})
	}
}

func TestOrderNamesItsClusters(t *testing.T) {
	list := []apportion.Cluster{{Name: "hangzhou", Weight: 3}, {Name: "beijing", Weight: 2}}
	o := mustOrder(t, list)
	list[0].Name, list[0].Weight = "changed", 100
	if got := o.Len(); got != 2 {
		t.Errorf("Len = %d, want 2", got)
	}
	for i, name := range []string{"hangzhou", "beijing"} {
		if got, ok := o.Index(name); !ok || got != i {
			t.Errorf("Index(%s) = %d, %t, want %d", name, got, ok, i)
		}
		if got := o.Name(i); got != name {
			t.Errorf("Name(%d) = %s, want %s", i, got, name)
		}
	}
	if got, ok := o.Index("changed"); ok {
		t.Errorf("Index found %d: the order must not share the caller's slice", got)
	}
}

func TestSeatsAreBounded(t *testing.T) {
	o := mustOrder(t, []apportion.Cluster{{Name: "a", Weight: 1}, {Name: "b", Weight: 2}})
	if got := len(o.Seats(math.MaxInt64)); got != apportion.MaxSeats {
		t.Errorf("Seats lists %d seats, want %d", got, apportion.MaxSeats)
	}
	if got := len(o.Seats(-1)); got != 0 {
		t.Errorf("Seats(-1) lists %d seats", got)
	}
}

func ExampleOrder_Shares() {
	order, err := apportion.NewOrder([]apportion.Cluster{
		{Name: "beijing", Weight: 2},
		{Name: "hangzhou", Weight: 3},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range []int64{4, 5, 10} {
		shares, _ := order.Shares(n)
		fmt.Println(n, shares)
	}
	// Output:
	// 4 [2 2]
	// 5 [2 3]
	// 10 [4 6]
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apportion_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/placement/apportion"
)

func TestEqual(t *testing.T) {
	group := func(change func(*apportion.Group)) apportion.Group {
		g := apportion.Group{
			As: apportion.Cluster{Name: "group", Weight: 1},
			Clusters: []apportion.Cluster{
				{Name: "a", Weight: 2, Min: 1, Max: new(int64(5)), Tier: 1, Turn: 1, Precedence: 7}, {Name: "b", Weight: 3},
			},
		}
		change(&g)
		return g
	}
	same := group(func(*apportion.Group) {})
	tests := map[string]struct {
		change func(*apportion.Group)
		want   bool
	}{
		"nothing":              {func(*apportion.Group) {}, true},
		"the group":            {func(g *apportion.Group) { g.As.Weight = 2 }, false},
		"a cluster more":       {func(g *apportion.Group) { g.Clusters = append(g.Clusters, apportion.Cluster{Name: "c"}) }, false},
		"a name":               {func(g *apportion.Group) { g.Clusters[1].Name = "c" }, false},
		"a weight":             {func(g *apportion.Group) { g.Clusters[1].Weight = 4 }, false},
		"a min":                {func(g *apportion.Group) { g.Clusters[0].Min = 2 }, false},
		"a max":                {func(g *apportion.Group) { g.Clusters[0].Max = new(int64(6)) }, false},
		"a max where none was": {func(g *apportion.Group) { g.Clusters[1].Max = new(int64(6)) }, false},
		"no max":               {func(g *apportion.Group) { g.Clusters[0].Max = nil }, false},
		"another five":         {func(g *apportion.Group) { g.Clusters[0].Max = new(int64(5)) }, true},
		"a tier":               {func(g *apportion.Group) { g.Clusters[0].Tier = 2 }, false},
		"a turn":               {func(g *apportion.Group) { g.Clusters[0].Turn = 2 }, false},
		"a precedence":         {func(g *apportion.Group) { g.Clusters[0].Precedence = 8 }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			other := group(tc.change)
			if got := same.Equal(other); got != tc.want {
				t.Errorf("%t, want %t", got, tc.want)
			}
			if got := other.Equal(same); got != tc.want {
				t.Errorf("the other way round %t, want %t", got, tc.want)
			}
		})
	}
}

// No more seats are planned than can be listed, whatever somebody has mistyped.
func TestPlansAreBounded(t *testing.T) {
	order, err := apportion.NewOrder([]apportion.Cluster{{Name: "a", Weight: 1, Max: new(int64(3))}})
	if err != nil {
		t.Fatal(err)
	}
	plans := apportion.NewPlans(order)
	got := map[int32]int64{}
	for _, n := range []int32{2, apportion.MaxSeats, apportion.MaxSeats + 1, math.MaxInt32} {
		got[n] = plans.Of(n).Replicas()
	}
	want := map[int32]int64{
		2: 2, apportion.MaxSeats: apportion.MaxSeats, apportion.MaxSeats + 1: apportion.MaxSeats, math.MaxInt32: apportion.MaxSeats,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("replicas of the plans (-want +got):\n%s", diff)
	}
}

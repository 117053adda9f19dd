// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apportion_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/apportion"
)

// group returns a group whose clusters have weight 1.
func group(as apportion.Cluster, names ...string) apportion.Group {
	g := apportion.Group{As: as}
	for _, name := range names {
		g.Clusters = append(g.Clusters, apportion.Cluster{Name: name, Weight: 1})
	}
	return g
}

func number(name string, turn int32, n int64) apportion.Cluster {
	return apportion.Cluster{Name: name, Weight: 1, Turn: turn, Min: n, Max: &n}
}

func TestSharesOfGroups(t *testing.T) {
	tests := map[string]struct {
		groups       []apportion.Group
		replicas     int64
		want         map[string]int64
		wantUnplaced int64
	}{
		"a group's weight is the group's": {
			groups: []apportion.Group{
				group(apportion.Cluster{Name: "many", Weight: 1}, "a", "b", "c", "d"), group(apportion.Cluster{Name: "one", Weight: 1}, "z"),
			},
			replicas: 8, want: map[string]int64{"a": 1, "b": 1, "c": 1, "d": 1, "z": 4},
		},
		"numbers first, weights share what is left": {
			groups: []apportion.Group{
				group(apportion.Cluster{Name: "east", Weight: 3}, "e1", "e2"), group(number("stores", 2, 3), "s1", "s2", "s3"),
				group(apportion.Cluster{Name: "west", Weight: 1}, "w1"),
			},
			replicas: 11, want: map[string]int64{"e1": 3, "e2": 3, "s1": 1, "s2": 1, "s3": 1, "w1": 2},
		},
		"too few for the numbers: group after group": {
			groups:   []apportion.Group{group(number("z", 1, 3), "z1", "z2"), group(number("a", 2, 3), "a1"), group(number("b", 3, 1), "b1")},
			replicas: 5, want: map[string]int64{"z1": 2, "z2": 1, "a1": 2, "b1": 0},
		},
		"what a group cannot hold goes to the others": {
			groups: []apportion.Group{
				{As: apportion.Cluster{Name: "full", Weight: 9}, Clusters: []apportion.Cluster{{Name: "f", Weight: 1, Max: new(int64(2))}}},
				group(apportion.Cluster{Name: "rest", Weight: 1}, "r"),
			},
			replicas: 9, want: map[string]int64{"f": 2, "r": 7},
		},
		"a later tier takes what earlier ones cannot": {
			groups: []apportion.Group{
				group(apportion.Cluster{Name: "burst", Weight: 1, Tier: 1}, "cloud"), group(number("home", 1, 2), "h1", "h2"),
			},
			replicas: 5, want: map[string]int64{"cloud": 3, "h1": 1, "h2": 1},
		},
		"a group without clusters": {
			groups:   []apportion.Group{group(number("none", 1, 4)), group(apportion.Cluster{Name: "rest", Weight: 1}, "r")},
			replicas: 3, want: map[string]int64{"r": 3},
		},
		"no cluster at all": {
			groups: []apportion.Group{group(apportion.Cluster{Name: "none", Weight: 1})}, replicas: 3,
			want: map[string]int64{}, wantUnplaced: 3,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o, err := apportion.NewGroupedOrder(tc.groups)
			if err != nil {
				t.Fatal(err)
			}
			shares, unplaced := o.Shares(tc.replicas)
			got := map[string]int64{}
			for i, n := range shares {
				got[o.Name(i)] = n
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || unplaced != tc.wantUnplaced {
				t.Errorf("unplaced %d, want %d; shares (-want +got):\n%s", unplaced, tc.wantUnplaced, diff)
			}
		})
	}
}

// TestAClusterBeyondItsMaximumLeavesTheOthersOfItsGroupTheirs has a group of two clusters with two
// replicas each, one of which holds more, as after its maximum was lowered.
func TestAClusterBeyondItsMaximumLeavesTheOthersOfItsGroupTheirs(t *testing.T) {
	two := int64(2)
	stores := apportion.Group{As: number("stores", 1, 4), Clusters: []apportion.Cluster{
		{Name: "a", Weight: 1, Max: &two}, {Name: "b", Weight: 1, Max: &two}, {Name: "closed", Max: new(int64)},
	}}
	order, err := apportion.NewGroupedOrder([]apportion.Group{stores, group(apportion.Cluster{Name: "rest", Weight: 1}, "c")})
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		held []int64
		want []string
	}{
		"one holds all":      {held: []int64{4, 0, 0, 0}, want: []string{"b", "c"}},
		"the closed one too": {held: []int64{1, 1, 2, 0}, want: []string{"a", "b", "c"}},
		"all have theirs":    {held: []int64{3, 2, 0, 0}, want: []string{"c"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, i := range order.Ranking(tc.held) {
				got = append(got, order.Name(int(i)))
			}
			slices.Sort(got)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("clusters that come into question (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGroupsAreRefused(t *testing.T) {
	tests := map[string]struct {
		groups  []apportion.Group
		wantErr string
	}{
		"none": {nil, "no groups"},
		"a cluster in two groups": {
			[]apportion.Group{group(apportion.Cluster{Name: "a", Weight: 1}, "x"), group(apportion.Cluster{Name: "b", Weight: 1}, "x")},
			`group "b": cluster "x" is in another group, too`,
		},
		"two of a name": {
			[]apportion.Group{group(apportion.Cluster{Name: "a", Weight: 1}, "x"), group(apportion.Cluster{Name: "a", Weight: 1}, "y")},
			`"a" is listed twice`,
		},
		"a cluster that is out of bounds": {
			[]apportion.Group{{As: apportion.Cluster{Name: "a"}, Clusters: []apportion.Cluster{{Name: "x", Weight: -1}}}},
			`group "a": cluster "x": weight -1`,
		},
		"a group that is": {[]apportion.Group{group(apportion.Cluster{Name: "a", Weight: -1}, "x")}, `"a": weight -1`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := apportion.NewGroupedOrder(tc.groups); err == nil || !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("err = %v, want one with %q", err, tc.wantErr)
			}
		})
	}
}

// drawGroups draws groups with bounds, tiers and turns, and clusters with bounds in them.
func drawGroups(t *rapid.T) []apportion.Group {
	as := clusters(parted).Draw(t, "groups")
	list := make([]apportion.Group, len(as))
	for g := range as {
		list[g].As = as[g]
		if rapid.IntRange(0, 5).Draw(t, "none") > 0 {
			list[g].Clusters = clusters(bounded).Draw(t, fmt.Sprintf("clusters of %s", as[g].Name))
		}
		for i := range list[g].Clusters {
			list[g].Clusters[i].Name = as[g].Name + "." + list[g].Clusters[i].Name
		}
	}
	return list
}

func groupedOrder(t *rapid.T, groups []apportion.Group) *apportion.Order {
	o, err := apportion.NewGroupedOrder(groups)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestEveryPrefixOfTheSeatsOfGroupsIsAShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := groupedOrder(t, drawGroups(t))
		n := rapid.Int64Range(0, 200).Draw(t, "n")
		seats := o.Seats(n)
		counts := make([]int64, o.Len())
		for seat, owner := range seats {
			checkSeat(t, o, int64(seat), int(owner), counts)
			counts[owner]++
		}
		last := int64(len(seats))
		if _, more := o.OwnerOf(last); more != (last == n && int64(len(o.Seats(n+1))) > last) {
			t.Fatalf("seat %d exists: %v", last, more)
		}
		if shares, unplaced := o.Shares(n); !slices.Equal(shares, counts) || unplaced != n-last {
			t.Fatalf("shares of %d: %v and %d unplaced, want %v", n, shares, unplaced, counts)
		}
		plan := o.Plan(n)
		for c := range counts {
			if int64(plan.Share(c)) != counts[c] {
				t.Fatalf("plan gives %d to cluster %d, want %d", plan.Share(c), c, counts[c])
			}
		}
	})
}

// checkSeat compares what the order says of a seat with its owner and with the counts of the seats
// before.
func checkSeat(t *rapid.T, o *apportion.Order, seat int64, owner int, counts []int64) {
	shares, unplaced := o.Shares(seat)
	if diff := cmp.Diff(counts, shares); diff != "" || unplaced != 0 {
		t.Fatalf("of %d replicas %d are unplaced; shares (-seats +shares):\n%s", seat, unplaced, diff)
	}
	if got, ok := o.OwnerOf(seat); !ok || got != owner {
		t.Fatalf("seat %d belongs to %d, %v; want %d", seat, got, ok, owner)
	}
	if got, ok := o.SeatNumber(owner, counts[owner]); !ok || got != seat {
		t.Fatalf("the seat %d of cluster %d is %d, %v; want %d", counts[owner], owner, got, ok, seat)
	}
	if ranking := o.Ranking(counts); len(ranking) == 0 || int(ranking[0]) != owner {
		t.Fatalf("with %d seats the next goes to %v, want %d", seat, ranking, owner)
	}
}

// A site that joins a group with a weight takes seats from clusters of this group only, and gives
// none to anybody.
func TestWhoJoinsAGroupConcernsNoOtherGroup(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		groups := drawGroups(t)
		for g := range groups {
			groups[g].As.Max, groups[g].As.Min = nil, 0
			for i := range groups[g].Clusters {
				groups[g].Clusters[i].Max = nil
			}
		}
		joined := rapid.IntRange(0, len(groups)-1).Draw(t, "joined")
		if len(groups[joined].Clusters) == 0 || groups[joined].As.Weight == 0 ||
			!slices.ContainsFunc(groups[joined].Clusters, func(c apportion.Cluster) bool { return c.Weight > 0 }) {
			t.Skip("the group becomes one that can be served")
		}
		before := groupedOrder(t, groups)
		after := slices.Clone(groups)
		after[joined].Clusters = append(slices.Clone(groups[joined].Clusters), apportion.Cluster{Name: "new", Weight: weights().Draw(t, "weight")})
		order := groupedOrder(t, after)
		n := replicas().Draw(t, "n")
		was, _ := before.Shares(n)
		is, _ := order.Shares(n)
		for c := range was {
			now, _ := order.Index(before.Name(c))
			if is[now] > was[c] || before.GroupOf(c) != joined && is[now] != was[c] {
				t.Fatalf("cluster %s had %d and has %d", before.Name(c), was[c], is[now])
			}
		}
	})
}

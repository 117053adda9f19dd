// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package divide_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/divide"
)

// The other rows of the file are those that Berth does not follow: minClusters 0 stands for all
// clusters of the group, where Clusternet binds none, and a missing subGroupStrategy is refused by
// the CustomResourceDefinition.
func TestSubgroupCasesOfClusternet(t *testing.T) {
	var table struct {
		Labels map[string]labels.Set `json:"cluster_labels"`
		Cases  []struct {
			Origin      string
			Scored      [][]any
			Subscribers []struct {
				Match       labels.Set
				MinClusters int
			}
			Want any
		}
	}
	readCases(t, "subgroup.json", &table)
	checked := 0
	for _, tc := range table.Cases {
		if tc.Origin != "upstream" {
			continue
		}
		checked++
		sets, groups := []labels.Set{}, []divide.Selection{}
		for _, scored := range tc.Scored {
			sets = append(sets, table.Labels[fmt.Sprint(scored[0])])
		}
		for _, s := range tc.Subscribers {
			groups = append(groups, divide.Selection{Selector: labels.SelectorFromSet(s.Match), Clusters: s.MinClusters})
		}
		got := []any{}
		for i, chosen := range divide.Subgroups(sets, groups) {
			if chosen {
				got = append(got, []any{tc.Scored[i][0], tc.Scored[i][1]})
			}
		}
		if diff := cmp.Diff(tc.Want, any(got)); diff != "" {
			t.Errorf("clusters (-want +got):\n%s", diff)
		}
	}
	if checked == 0 {
		t.Error("no case was checked")
	}
}

func TestSubgroups(t *testing.T) {
	north, south := labels.Set{"region": "north"}, labels.Set{"region": "south"}
	group := func(region string, clusters int) divide.Selection {
		return divide.Selection{Selector: labels.SelectorFromSet(labels.Set{"region": region}), Clusters: clusters}
	}
	clusters := []labels.Set{north, south, north, north}
	tests := map[string]struct {
		groups []divide.Selection
		want   []bool
	}{
		"the first of each":             {[]divide.Selection{group("north", 2), group("south", 1)}, []bool{true, true, true, false}},
		"fewer than asked for":          {[]divide.Selection{group("south", 3)}, []bool{false, true, false, false}},
		"0 stands for all":              {[]divide.Selection{group("north", 0)}, []bool{true, false, true, true}},
		"a group that selects nothing":  {[]divide.Selection{group("west", 1)}, []bool{false, false, false, false}},
		"one that two groups choose":    {[]divide.Selection{group("north", 1), {Selector: labels.Everything(), Clusters: 2}}, []bool{true, true, false, false}},
		"no groups choose no clusters":  {nil, []bool{false, false, false, false}},
		"groups with the same clusters": {[]divide.Selection{group("north", 1), group("north", 2)}, []bool{true, false, true, false}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, divide.Subgroups(clusters, tc.groups)); diff != "" {
				t.Errorf("chosen (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEachSubgroupHasItsClusters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clusters := make([]labels.Set, rapid.IntRange(0, 12).Draw(t, "clusters"))
		for i := range clusters {
			clusters[i] = labels.Set{"region": rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "region")}
		}
		groups := make([]divide.Selection, rapid.IntRange(0, 4).Draw(t, "groups"))
		for i := range groups {
			region := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "selected")
			groups[i] = divide.Selection{Selector: labels.SelectorFromSet(labels.Set{"region": region}), Clusters: rapid.IntRange(0, 5).Draw(t, "n")}
		}
		chosen := divide.Subgroups(clusters, groups)
		most := 0
		for _, g := range groups {
			matching, has := 0, 0
			for i := range clusters {
				if g.Selector.Matches(clusters[i]) {
					matching++
					if chosen[i] {
						has++
					}
				}
			}
			want := matching
			if g.Clusters > 0 {
				want = min(want, g.Clusters)
			}
			if has < want {
				t.Fatalf("a group of %d clusters has %d of %d", matching, has, want)
			}
			most += want
		}
		total := 0
		for _, c := range chosen {
			if c {
				total++
			}
		}
		if total > most {
			t.Fatalf("%d clusters are chosen, at most %d were asked for", total, most)
		}
	})
}

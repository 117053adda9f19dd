// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/binding"
)

func TestMatchesGeo(t *testing.T) {
	data, err := os.ReadFile("testdata/geo_match.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases struct {
		Rows []struct {
			Have, Want berthv1alpha1.GeoLocation
			Match      bool
		}
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases.Rows) == 0 {
		t.Fatal("no cases")
	}
	for i, row := range cases.Rows {
		if got := binding.MatchesGeo(row.Have, row.Want); got != row.Match {
			t.Errorf("row %d: %+v for %+v = %v, want %v", i, row.Have, row.Want, got, row.Match)
		}
	}
}

func TestGrants(t *testing.T) {
	union := &berthv1alpha1.ClusterUnion{
		GeoLocations: []berthv1alpha1.GeoLocation{{City: "Bellevue", Country: "US"}, {City: "Berlin", Country: "DE"}},
		CPUCapacity:  berthv1alpha1.CapacityUnion{Total: 100, Max: 64},
	}
	tests := map[string]struct {
		wish binding.Wish
		want bool
	}{
		"no wish":                                {binding.Wish{}, true},
		"a country that is there":                {binding.Wish{Geo: berthv1alpha1.GeoLocation{Country: "DE"}}, true},
		"parts of two places":                    {binding.Wish{Geo: berthv1alpha1.GeoLocation{City: "Berlin", Country: "US"}}, false},
		"as many cores as the largest":           {binding.Wish{CPU: 64}, true},
		"more cores than any, but not all":       {binding.Wish{CPU: 65}, false},
		"memory of which nobody registered some": {binding.Wish{Mem: 1 << 40}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.wish.Grants(union); got != tc.want {
				t.Errorf("Grants = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestChoose(t *testing.T) {
	tests := map[string]struct {
		candidates []binding.Candidate
		want       int
	}{
		"nobody": {want: -1},
		"who meets the wish comes first, however busy": {
			[]binding.Candidate{{Name: "a", Room: 9, Size: 10}, {Name: "b", Grants: true, Load: 1000, Size: 1}}, 1,
		},
		"then who has more room in the policy": {
			[]binding.Candidate{{Name: "a", Room: 1, Size: 10}, {Name: "b", Room: 2, Load: 50, Size: 10}}, 1,
		},
		"then who has less to do for its size": {
			[]binding.Candidate{{Name: "a", Load: 2, Size: 10}, {Name: "b", Load: 3, Size: 20}}, 1,
		},
		"who has no nodes comes last": {
			[]binding.Candidate{{Name: "a"}, {Name: "b", Load: 1000, Size: 1}}, 1,
		},
		"then the name decides": {
			[]binding.Candidate{{Name: "b", Load: 1, Size: 1}, {Name: "a", Load: 2, Size: 2}}, 1,
		},
		"numbers whose products do not fit": {
			[]binding.Candidate{{Name: "a", Load: math.MaxInt, Size: math.MaxInt - 1}, {Name: "b", Load: math.MaxInt - 1, Size: math.MaxInt}}, 1,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := binding.Choose(tc.candidates); got != tc.want {
				t.Errorf("Choose = %d, want %d", got, tc.want)
			}
		})
	}
}

func cluster(name, city, flavor string, capacity, price int64) *berthv1alpha1.Cluster {
	c := &berthv1alpha1.Cluster{}
	c.Name = name
	c.Spec.GeoLocation = &berthv1alpha1.GeoLocation{City: city}
	c.Spec.Region = &berthv1alpha1.Region{Region: "west"}
	c.Spec.Operator = &berthv1alpha1.Operator{}
	c.Spec.Flavors = []berthv1alpha1.Flavor{{FlavorID: flavor, TotalCapacity: capacity}}
	c.Spec.Storage = []berthv1alpha1.Storage{{TypeID: "ssd", StorageCapacity: capacity}}
	c.Spec.CPUCapacity, c.Spec.ServerPrice = capacity, price
	return c
}

func TestUnion(t *testing.T) {
	got := binding.Union([]*berthv1alpha1.Cluster{
		cluster("c2", "Seattle", "small", 5, 10), cluster("c1", "Bellevue", "small", 20, 0),
		cluster("c3", "Bellevue", "large", math.MaxInt64, 7), {},
	})
	want := berthv1alpha1.ClusterUnion{
		GeoLocations: []berthv1alpha1.GeoLocation{{City: "Bellevue"}, {City: "Seattle"}},
		Regions:      []berthv1alpha1.Region{{Region: "west"}},
		Flavors: []berthv1alpha1.FlavorUnion{
			{FlavorID: "large", CapacityUnion: berthv1alpha1.CapacityUnion{Total: math.MaxInt64, Max: math.MaxInt64}},
			{FlavorID: "small", CapacityUnion: berthv1alpha1.CapacityUnion{Total: 25, Max: 20}},
		},
		Storage: []berthv1alpha1.StorageUnion{
			{TypeID: "ssd", CapacityUnion: berthv1alpha1.CapacityUnion{Total: math.MaxInt64, Max: math.MaxInt64}},
		},
		CPUCapacity: berthv1alpha1.CapacityUnion{Total: math.MaxInt64, Max: math.MaxInt64},
		ServerPrice: &berthv1alpha1.PriceRange{Min: 7, Max: 10},
		Columns:     berthv1alpha1.UnionColumns{Regions: "west", Cities: "Bellevue,Seattle", Flavors: "large,small", Storage: "ssd"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("union mismatch (-want +got):\n%s", diff)
	}
}

func TestColumnsShowTheFirstFew(t *testing.T) {
	var all []*berthv1alpha1.Cluster
	for _, city := range []string{"G", "F", "E", "D", "C", "B", "A", "A"} {
		all = append(all, cluster(city, city, "small", 1, 1))
	}
	if got, want := binding.Union(all).Columns.Cities, "A,B,C,D,E,and 2 more"; got != want {
		t.Errorf("the column is %q, want %q", got, want)
	}
}

// What two clusters share does not get lost with one of them, and the order of the clusters does not matter.
func TestUnionIsThatOfTheClustersThatAreThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []*berthv1alpha1.Cluster
		for i := range rapid.IntRange(1, 6).Draw(t, "clusters") {
			all = append(all, cluster(strconv.Itoa(i), rapid.SampledFrom([]string{"", "A", "B"}).Draw(t, "city"),
				rapid.SampledFrom([]string{"s", "m"}).Draw(t, "flavor"), rapid.Int64Range(0, 9).Draw(t, "capacity"),
				rapid.Int64Range(0, 3).Draw(t, "price")))
		}
		gone := rapid.IntRange(0, len(all)-1).Draw(t, "gone")
		left := append(append([]*berthv1alpha1.Cluster{}, all[:gone]...), all[gone+1:]...)
		shuffled := append([]*berthv1alpha1.Cluster{}, left...)
		rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		u := binding.Union(left)
		if diff := cmp.Diff(u, binding.Union(shuffled)); diff != "" {
			t.Fatalf("the order of the clusters matters:\n%s", diff)
		}
		for _, c := range left {
			if c.Spec.GeoLocation.City != "" && !(binding.Wish{Geo: *c.Spec.GeoLocation}).Grants(&u) {
				t.Fatalf("the place of cluster %s got lost", c.Name)
			}
		}
	})
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/binding"
	"berth.dev/berth/pkg/placement/dispatch"
)

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

// What two clusters share does not get lost with one of them, and the order of the clusters does
// not matter.
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
			if c.Spec.GeoLocation.City != "" && !(dispatch.Preference{Geo: *c.Spec.GeoLocation}).Grants(&u) {
				t.Fatalf("the place of cluster %s got lost", c.Name)
			}
		}
	})
}

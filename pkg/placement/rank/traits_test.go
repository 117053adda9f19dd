// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rank_test

import (
	"testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/rank"
)

// munich is a Cluster that has something of all that constraints compare.
func munich() *berthv1alpha1.Cluster {
	c := &berthv1alpha1.Cluster{}
	c.Labels = map[string]string{"location": "DE"}
	c.Spec.GeoLocation = &berthv1alpha1.GeoLocation{Country: "Germany"}
	c.Spec.CustomResources = []string{"crontabs.stable.example.com"}
	c.Spec.Metrics = []berthv1alpha1.MetricReference{{Name: "load", Weight: 1}}
	c.Spec.ServerPrice, c.Spec.CPUCapacity, c.Spec.MemCapacity, c.Spec.EIPCapacity = 10, 64, 256, 8
	c.Spec.Flavors = []berthv1alpha1.Flavor{{FlavorID: "large", TotalCapacity: 3}}
	c.Spec.Storage = []berthv1alpha1.Storage{{TypeID: "ssd", StorageCapacity: 100}}
	return c
}

func TestConstraintsExclude(t *testing.T) {
	labels := func(text string) *berthv1alpha1.ClusterConstraints {
		return &berthv1alpha1.ClusterConstraints{ClusterLabels: []string{text}}
	}
	metrics := func(texts ...string) *berthv1alpha1.ClusterConstraints {
		return &berthv1alpha1.ClusterConstraints{ClusterMetrics: texts}
	}
	tests := map[string]struct {
		constraints *berthv1alpha1.ClusterConstraints
		want        bool
	}{
		"none":                              {},
		"a label that it has":               {labels("location is DE"), false},
		"another value":                     {labels("location is SK"), true},
		"a label that it does not have":     {labels("tier is not edge"), true},
		"its country":                       {labels("geoLocation.country is Germany"), false},
		"another country":                   {labels("geoLocation.country is France"), true},
		"a metric that has no value yet":    {metrics("load < 5"), false},
		"a metric that it does not have":    {metrics("green_energy > 1"), true},
		"its price":                         {metrics("serverPrice <= 10"), false},
		"a lower price, whatever its load":  {metrics("load < 5", "serverPrice < 10"), true},
		"a flavor that it has too few of":   {metrics("flavor.large > 3"), true},
		"a custom resource that it has":     {&berthv1alpha1.ClusterConstraints{CustomResources: []string{"crontabs.stable.example.com"}}, false},
		"a custom resource that is missing": {&berthv1alpha1.ClusterConstraints{CustomResources: []string{"a.b"}}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			parsed, err := rank.ParseConstraints(tc.constraints)
			if err != nil {
				t.Fatal(err)
			}
			traits := rank.TraitsOf(munich())
			if got := parsed.Exclude(&traits); got != tc.want {
				t.Errorf("excluded: %t, want %t", got, tc.want)
			}
		})
	}
}

func TestTraitsThatDiffer(t *testing.T) {
	for name, change := range map[string]func(*berthv1alpha1.Cluster){
		"a label":           func(c *berthv1alpha1.Cluster) { c.Labels["location"] = "SK" },
		"the country":       func(c *berthv1alpha1.Cluster) { c.Spec.GeoLocation.Country = "France" },
		"a custom resource": func(c *berthv1alpha1.Cluster) { c.Spec.CustomResources[0] = "a.b" },
		"a metric":          func(c *berthv1alpha1.Cluster) { c.Spec.Metrics = nil },
		"a flavor":          func(c *berthv1alpha1.Cluster) { c.Spec.Flavors[0].TotalCapacity++ },
		"the storage":       func(c *berthv1alpha1.Cluster) { c.Spec.Storage[0].TypeID = "hdd" },
		"the price":         func(c *berthv1alpha1.Cluster) { c.Spec.ServerPrice++ },
		"the cores":         func(c *berthv1alpha1.Cluster) { c.Spec.CPUCapacity++ },
		"the memory":        func(c *berthv1alpha1.Cluster) { c.Spec.MemCapacity++ },
		"the addresses":     func(c *berthv1alpha1.Cluster) { c.Spec.EIPCapacity++ },
	} {
		t.Run(name, func(t *testing.T) {
			other := munich()
			change(other)
			if a := rank.TraitsOf(munich()); a.Equal(rank.TraitsOf(other)) || !a.Equal(rank.TraitsOf(munich())) {
				t.Error("the traits are equal, or those of the same are not")
			}
		})
	}
}

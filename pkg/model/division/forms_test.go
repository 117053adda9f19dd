// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package division_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/divide"
)

// web is the workload that all forms place.
var web = workload.Workload{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web"}

// policyOf returns what a policy with the placement, and limits by cluster, gives each cluster of n
// replicas.
func policyOf(t *rapid.T, placement berthv1alpha1.Placement, limits []berthv1alpha1.LimitedCluster, n int64) map[string]int64 {
	object := &berthv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "p"}}
	object.Spec.Placement = placement
	if len(limits) > 0 {
		object.Status.Limited = []berthv1alpha1.LimitedWorkload{{Ref: web.Ref(), Clusters: limits}}
	}
	compiled := policy.Compile(object, nil)
	if compiled.Err != nil {
		t.Fatal(compiled.Err)
	}
	compiled = compiled.For(&web)
	shares, _ := compiled.Order.Shares(n)
	found := map[string]int64{}
	for i, share := range shares {
		if share > 0 {
			found[compiled.Order.Name(i)] = share
		}
	}
	return found
}

// divided returns what a division gives each cluster.
func divided(t *rapid.T, load divide.Load, clusters []divide.Target) map[string]int64 {
	d, err := divide.Divide(load, clusters)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int64{}
	for i, share := range d.Shares {
		if share > 0 {
			found[clusters[i].Name] = share
		}
	}
	return found
}

// A Subscription that divides by weight, the staticWeightList that carries it out and a group for
// each cluster give all clusters the same.
func TestWeightsOfSubscribersAreThoseOfGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sets := make([]labels.Set, rapid.IntRange(1, 8).Draw(t, "clusters"))
		for i := range sets {
			sets[i] = labels.Set{"tier": rapid.SampledFrom([]string{"store", "region", "cloud"}).Draw(t, "tier"), "name": fmt.Sprint("c", i)}
		}
		subscribers := []divide.Subscriber{{Selector: labels.Everything(), Weight: 1}}
		for range rapid.IntRange(0, 3).Draw(t, "subscribers") {
			subscribers = append(subscribers, divide.Subscriber{
				Selector: labels.SelectorFromSet(labels.Set{"tier": rapid.SampledFrom([]string{"store", "region"}).Draw(t, "selected")}),
				Weight:   rapid.Int64Range(0, 9).Draw(t, "weight"),
			})
		}
		weights, _, err := divide.Weights(sets, subscribers)
		if err != nil {
			t.Fatal(err)
		}
		var targets []divide.Target
		var list, groups berthv1alpha1.Placement
		for i, weight := range weights {
			name := sets[i]["name"]
			targets = append(targets, divide.Target{Name: name, Weight: weight})
			list.StaticWeightList = append(list.StaticWeightList, berthv1alpha1.StaticClusterWeight{ClusterNames: []string{name}, Weight: weight})
			groups.ClusterGroups = append(groups.ClusterGroups, berthv1alpha1.ClusterGroup{Name: name, ClusterNames: []string{name}, Weight: &weight})
		}
		n := rapid.Int64Range(0, 60).Draw(t, "replicas")
		want := divided(t, divide.Load{Strategy: divide.Static, Replicas: n}, targets)
		if diff := cmp.Diff(want, policyOf(t, list, nil, n)); diff != "" {
			t.Errorf("staticWeightList (-Subscription +policy):\n%s", diff)
		}
		if diff := cmp.Diff(want, policyOf(t, groups, nil, n)); diff != "" {
			t.Errorf("clusterGroups (-Subscription +policy):\n%s", diff)
		}
	})
}

// Preferred clusters of a Subscription that divides by room are tiers of a policy whose clusters
// get no more than they have room for.
func TestPreferredClustersAreTiers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var targets []divide.Target
		var groups berthv1alpha1.Placement
		var limits []berthv1alpha1.LimitedCluster
		for i := range rapid.IntRange(1, 8).Draw(t, "clusters") {
			name, room, tier := fmt.Sprint("c", i), rapid.Int32Range(0, 9).Draw(t, "room"), rapid.Int32Range(0, 3).Draw(t, "tier")
			targets = append(targets, divide.Target{Name: name, Free: int64(room), Preference: int64(-tier)})
			groups.ClusterGroups = append(groups.ClusterGroups, berthv1alpha1.ClusterGroup{
				Name: name, ClusterNames: []string{name}, Weight: new(int64(max(1, room))), Tier: &tier,
			})
			limits = append(limits, berthv1alpha1.LimitedCluster{Name: name, Replicas: room})
		}
		n := rapid.Int64Range(0, 60).Draw(t, "replicas")
		want := divided(t, divide.Load{Strategy: divide.Spread, Replicas: n}, targets)
		if diff := cmp.Diff(want, policyOf(t, groups, limits, n)); diff != "" {
			t.Errorf("shares (-Subscription +policy):\n%s", diff)
		}
	})
}

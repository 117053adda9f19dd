// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package capacity_test

import (
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/capacity"
	"berth.dev/berth/pkg/placement/pool"
)

// extended is a node that has one of each of so many resources.
func extended(resources int) *corev1.Node {
	n := &corev1.Node{}
	n.Status.Allocatable = corev1.ResourceList{}
	for i := range resources {
		n.Status.Allocatable[corev1.ResourceName(fmt.Sprintf("example.com/%02d", i))] = resource.MustParse("1")
	}
	return n
}

func TestAllocatableIsWhatTheNodesHaveTogether(t *testing.T) {
	a, b := node("a-0", "1500m", "1Gi"), node("a-1", "2", "1Gi")
	b.Status.Allocatable["example.com/gpu"] = resource.MustParse("4")
	got := map[corev1.ResourceName]string{}
	for name, amount := range capacity.Allocatable([]*corev1.Node{&a, &b}) {
		got[name] = amount.String()
	}
	want := map[corev1.ResourceName]string{"cpu": "3500m", "memory": "2Gi", "pods": "128", "example.com/gpu": "4"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("allocatable (-want +got):\n%s", diff)
	}
}

// A status that grew with whatever nodes advertise would be more than can be stored.
func TestAllocatableTellsOfTheFirstResources(t *testing.T) {
	for has, want := range map[int]int{31: 31, 32: 32, 33: 32, 40: 32} {
		got := capacity.Allocatable([]*corev1.Node{extended(has)})
		if diff := cmp.Diff(extended(want).Status.Allocatable, got); diff != "" {
			t.Errorf("of %d resources (-want +got):\n%s", has, diff)
		}
	}
}

// part is a pool: so many units for the nodes of a site, or for all if that is empty.
type part struct{ units, site string }

// declared is a ClusterResource with some pools.
func declared(t *testing.T, name string, mode berthv1alpha1.PoolMode, pools ...part) *pool.Resource {
	t.Helper()
	object := &berthv1alpha1.ClusterResource{}
	object.Name, object.Spec.Mode = name, mode
	for i, p := range pools {
		quantity := berthv1alpha1.ClusterResourceQuantity{Name: fmt.Sprint("p-", i), Quantity: resource.MustParse(p.units)}
		if p.site != "" {
			quantity.NodeSelector = map[string]string{"site": p.site}
		}
		object.Status.Allocatable = append(object.Status.Allocatable, quantity)
	}
	r, err := pool.NewResource(object)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// at are nodes, one at each of the sites.
func at(sites ...string) []*corev1.Node {
	nodes := make([]*corev1.Node, len(sites))
	for i, site := range sites {
		nodes[i] = &corev1.Node{}
		nodes[i].Labels = map[string]string{"site": site}
	}
	return nodes
}

// byPool is a policy that weighs clusters by the pools of a ClusterResource.
func byPool(resource string) berthv1alpha1.PropagationPolicy {
	p := berthv1alpha1.PropagationPolicy{}
	p.Spec.Placement.ClusterGroups = []berthv1alpha1.ClusterGroup{{
		Name: "all", ClusterWeights: &berthv1alpha1.ClusterWeights{Type: berthv1alpha1.WeighPool, ClusterResource: resource},
	}}
	return p
}

func TestPoolsOfACluster(t *testing.T) {
	const one, all = berthv1alpha1.AnyOf, berthv1alpha1.AllOf
	most := strconv.FormatInt(math.MaxInt64-1, 10)
	tests := map[string]struct {
		resource *pool.Resource
		nodes    []*corev1.Node
		// want is how many units the Cluster has, -1 if it is not told of.
		want int64
	}{
		"a pool for all nodes":            {declared(t, "r", one, part{"5", ""}), at("a"), 5},
		"no node":                         {declared(t, "r", one, part{"5", ""}), nil, -1},
		"a pool that is elsewhere":        {declared(t, "r", one, part{"5", "b"}), at("a"), -1},
		"a pool that is empty":            {declared(t, "r", one, part{"0", "a"}), at("a"), 0},
		"two pools, one of them here":     {declared(t, "r", one, part{"5", "a"}, part{"7", "b"}), at("a"), 5},
		"two pools for two sites":         {declared(t, "r", one, part{"5", "a"}, part{"7", "b"}), at("a", "b"), 12},
		"two nodes that share one":        {declared(t, "r", one, part{"5", "a"}), at("a", "a"), 5},
		"more than can be counted":        {declared(t, "r", one, part{most, "a"}, part{"7", "b"}), at("a", "b"), math.MaxInt64},
		"all of them, the first smaller":  {declared(t, "r", all, part{"5", ""}, part{"7", "a"}), at("a"), 5},
		"all of them, the second smaller": {declared(t, "r", all, part{"9", ""}, part{"7", "a"}), at("a"), 7},
		"all of them, one is empty":       {declared(t, "r", all, part{"9", ""}, part{"0", "a"}), at("a"), 0},
		"all of them, one elsewhere":      {declared(t, "r", all, part{"9", ""}, part{"7", "b"}), at("a"), 9},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var want []berthv1alpha1.ClusterPools
			if tc.want >= 0 {
				want = []berthv1alpha1.ClusterPools{{ClusterResource: "r", Units: tc.want}}
			}
			nobody, somebody := capacity.AskedBy(nil), capacity.AskedBy([]berthv1alpha1.PropagationPolicy{byPool("r")})
			if diff := cmp.Diff(want, nobody.Pools(tc.nodes, []*pool.Resource{tc.resource})); diff != "" {
				t.Errorf("pools (-want +got):\n%s", diff)
			}
			want = []berthv1alpha1.ClusterPools{{ClusterResource: "r", Units: max(0, tc.want)}}
			if diff := cmp.Diff(want, somebody.Pools(tc.nodes, []*pool.Resource{tc.resource})); diff != "" {
				t.Errorf("pools that a policy asks for (-want +got):\n%s", diff)
			}
		})
	}
}

// A ClusterResource that nobody has looked at yet has no pools. Where it is counted all the same,
// the first Cluster to be counted again gets everything.
func TestPoolsThatAreNotPublishedAreNotCounted(t *testing.T) {
	asked := capacity.AskedBy([]berthv1alpha1.PropagationPolicy{byPool("r")})
	if got := asked.Pools(at("a"), []*pool.Resource{declared(t, "r", berthv1alpha1.AnyOf)}); len(got) > 0 {
		t.Errorf("a ClusterResource without pools is told as %v", got)
	}
}

// Of too many ClusterResources the first count on which the Cluster draws.
func TestPoolsTellOfTheFirstClusterResources(t *testing.T) {
	var resources []*pool.Resource
	var want []berthv1alpha1.ClusterPools
	for i := range 40 {
		resources = append(resources, declared(t, fmt.Sprint("far-", i), berthv1alpha1.AnyOf, part{"5", "b"}))
		name := fmt.Sprint("near-", i)
		resources = append(resources, declared(t, name, berthv1alpha1.AnyOf, part{"5", "a"}))
		if i < 32 {
			want = append(want, berthv1alpha1.ClusterPools{ClusterResource: name, Units: 5})
		}
	}
	asked := capacity.AskedBy(nil)
	if diff := cmp.Diff(want, asked.Pools(at("a"), resources)); diff != "" {
		t.Errorf("pools (-want +got):\n%s", diff)
	}
}

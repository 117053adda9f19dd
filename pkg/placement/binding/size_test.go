// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/binding"
)

func TestSizeOf(t *testing.T) {
	got := map[int]int{}
	for _, nodes := range []int{-1, 0, 1, 2, 3, 4, 1000} {
		got[nodes] = binding.SizeOf(nodes)
	}
	want := map[int]int{-1: 0, 0: 0, 1: 1, 2: 2, 3: 2, 4: 4, 1000: 512}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sizes by nodes (-want +got):\n%s", diff)
	}
}

func TestTaking(t *testing.T) {
	schedulers := binding.Schedulers{
		"none": nil, "gone": {Alive: true}, "dead": {Registered: true}, "leaving": {Registered: true, Alive: true, Leaving: true},
	}
	if n := schedulers.Taking(); n != 0 {
		t.Errorf("%d take clusters, want none", n)
	}
	schedulers["one"] = &binding.Scheduler{Registered: true, Alive: true}
	if n := schedulers.Taking(); n != 1 {
		t.Errorf("%d take clusters, want one", n)
	}
}

func TestUnionOfWhatCountsAndWhatDoesNot(t *testing.T) {
	cluster := func(operator string, cpu, price int64) *berthv1alpha1.Cluster {
		c := &berthv1alpha1.Cluster{}
		c.Spec.Operator, c.Spec.CPUCapacity, c.Spec.ServerPrice = &berthv1alpha1.Operator{Operator: operator}, cpu, price
		return c
	}
	got := binding.Union([]*berthv1alpha1.Cluster{
		cluster("west", 3, 1), cluster("east", -5, 0), cluster("", 4, 9), cluster("east", 0, -1),
	})
	want := berthv1alpha1.ClusterUnion{
		Operators: []string{"east", "west"}, CPUCapacity: berthv1alpha1.CapacityUnion{Total: 7, Max: 4},
		ServerPrice: &berthv1alpha1.PriceRange{Min: 1, Max: 9}, Columns: berthv1alpha1.UnionColumns{Operators: "east,west"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("union (-want +got):\n%s", diff)
	}
	most := binding.Union([]*berthv1alpha1.Cluster{cluster("", math.MaxInt64, 0), cluster("", 1, 0)})
	if most.CPUCapacity.Total != math.MaxInt64 {
		t.Errorf("the sum turned to %d", most.CPUCapacity.Total)
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/grouping"
)

// tiered is a policy of two tiers that lets the Deployment web have 3 replicas in a, the first.
func tiered() *berthv1alpha1.PropagationPolicy {
	p := &berthv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "p", UID: "p", Generation: 1}}
	p.Spec.Placement.ClusterGroups = []berthv1alpha1.ClusterGroup{
		{Name: "home", ClusterNames: []string{"a"}},
		{Name: "burst", ClusterNames: []string{"b"}, Tier: new(int32(1)), GiveUpAfter: &metav1.Duration{Duration: time.Minute}},
	}
	p.Status.Limited = []berthv1alpha1.LimitedWorkload{{
		Ref:      berthv1alpha1.WorkloadReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"},
		Clusters: []berthv1alpha1.LimitedCluster{{Name: "a", Replicas: 3}},
	}}
	return p
}

func TestFor(t *testing.T) {
	compiled := policy.Compile(tiered(), nil)
	tests := map[string]struct {
		workload workload.Workload
		want     []int
	}{
		"the one that is limited":  {workload.Workload{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web"}, []int{3, 2}},
		"in another version":       {workload.Workload{APIVersion: "apps/v2", Kind: "Deployment", Namespace: "shop", Name: "web"}, []int{3, 2}},
		"one with another name":    {workload.Workload{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "api"}, []int{5, 0}},
		"another kind of the name": {workload.Workload{APIVersion: "apps/v1", Kind: "StatefulSet", Namespace: "shop", Name: "web"}, []int{5, 0}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			inForce := compiled.For(&tc.workload)
			plan := inForce.Plan(5)
			if diff := cmp.Diff(tc.want, []int{plan.Share(0), plan.Share(1)}); diff != "" {
				t.Errorf("shares (-want +got):\n%s", diff)
			}
			if compiled.For(&tc.workload) != inForce {
				t.Error("it is another one the next time")
			}
		})
	}
}

func TestLimitedOf(t *testing.T) {
	p := tiered()
	web := &workload.Workload{APIVersion: "apps/v2", Kind: "Deployment", Namespace: "shop", Name: "web"}
	if got := policy.LimitedOf(p, web); got != &p.Status.Limited[0] {
		t.Errorf("the limits of web are %v", got)
	}
	api := &workload.Workload{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "api"}
	if got := policy.LimitedOf(p, api); got != nil {
		t.Errorf("the limits of api are %v", got)
	}
}

func TestLimitsOfPoliciesThatAreNotAlike(t *testing.T) {
	web := &workload.Workload{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web"}
	one := tiered()
	one.Spec.Placement.ClusterGroups = []berthv1alpha1.ClusterGroup{{Name: "all", ClusterNames: []string{"a", "b"}, Weight: new(int64(1))}}
	one.Status.Limited[0].Clusters[0].Replicas = 1
	twice := object(1, "a", "a")
	twice.Status.Limited = one.Status.Limited
	plain := object(1, "a", "b")
	plain.Status.Limited = one.Status.Limited
	tests := map[string]struct {
		policy *berthv1alpha1.PropagationPolicy
		want   [2]int
	}{
		"a single group":       {one, [2]int{1, 3}},
		"weights that are off": {policy: twice},
		"weights of names":     {plain, [2]int{1, 3}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, sharesIn(policy.Compile(tc.policy, nil).For(web))); diff != "" {
				t.Errorf("replicas in a and b (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOtherLimitsAreAnotherMeaning(t *testing.T) {
	before := policy.NewSet([]*berthv1alpha1.PropagationPolicy{tiered()}, nil, nil)
	told := tiered()
	told.Status.Limited[0].LimitedBy, told.Status.Limited[0].Clusters[0].Room = "full", 1
	if after := policy.NewSet([]*berthv1alpha1.PropagationPolicy{told}, nil, before); after.Of(told) != before.Of(told) {
		t.Error("what is told of a limit makes another policy of it")
	}
	other := tiered()
	other.Status.Limited[0].Clusters[0].Replicas = 4
	if after := policy.NewSet([]*berthv1alpha1.PropagationPolicy{other}, nil, before); after.Of(other) == before.Of(other) {
		t.Error("another limit makes no other policy of it")
	}
}

// BenchmarkCompile compiles a policy of one replica in each of 1,000 stores, and of weights beside,
// and plans 100,000 replicas.
func BenchmarkCompile(b *testing.B) {
	clusters := make([]*berthv1alpha1.Cluster, 1000)
	for i := range clusters {
		tier := "store"
		if i%10 == 0 {
			tier = "region"
		}
		clusters[i] = &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("c", i), Labels: map[string]string{"tier": tier}}}
	}
	p := tiered()
	p.Status.Limited = nil
	p.Spec.Placement.ClusterGroups = []berthv1alpha1.ClusterGroup{
		{Name: "stores", ClusterSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "store"}}, ReplicasPerCluster: new(int32(1))},
		{Name: "regions", ClusterSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "region"}}, Weight: new(int64(3))},
	}
	sites := grouping.NewSites(clusters, nil)
	b.Run("compile", func(b *testing.B) {
		for b.Loop() {
			policy.Compile(p, sites)
		}
	})
	compiled := policy.Compile(p, sites)
	b.Run("plan", func(b *testing.B) {
		for b.Loop() {
			compiled.Order.Plan(100_000)
		}
	})
}

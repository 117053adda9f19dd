// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/placement/apportion"
)

// object returns the policy web, whose clusters have the weights 1, 2 and so on.
func object(generation int64, clusters ...string) *berthv1alpha1.PropagationPolicy {
	p := &berthv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "web", UID: "web", Generation: generation,
	}}
	for i, cluster := range clusters {
		p.Spec.Placement.StaticWeightList = append(p.Spec.Placement.StaticWeightList, berthv1alpha1.StaticClusterWeight{
			ClusterNames: []string{cluster}, Weight: int64(i) + 1,
		})
	}
	return p
}

// webPolicy returns a compiled policy of two clusters.
func webPolicy(t *testing.T) *policy.Policy {
	t.Helper()
	return policy.Compile(object(1, "beijing", "hangzhou"), nil)
}

func TestCompile(t *testing.T) {
	scheduleAnyway := func(p *berthv1alpha1.PropagationPolicy) {
		p.Spec.Placement.WhenUnsatisfiable = berthv1alpha1.ScheduleAnyway
	}
	constraints := func(labels ...string) func(*berthv1alpha1.PropagationPolicy) {
		return func(p *berthv1alpha1.PropagationPolicy) {
			p.Spec.Placement.Constraints = &berthv1alpha1.ClusterConstraints{ClusterLabels: labels}
		}
	}
	type answer struct {
		Carried, Strict, Constrained, Understood, NamesBeijing, NamesShanghai bool
	}
	tests := map[string]struct {
		clusters []string
		change   func(*berthv1alpha1.PropagationPolicy)
		want     answer
	}{
		"two clusters": {
			clusters: []string{"beijing", "hangzhou"},
			want:     answer{Carried: true, Strict: true, Understood: true, NamesBeijing: true},
		},
		"a cluster twice": {
			clusters: []string{"beijing", "beijing"},
			want:     answer{Strict: true, Understood: true},
		},
		"pods go elsewhere rather than wait": {
			clusters: []string{"beijing"}, change: scheduleAnyway,
			want: answer{Carried: true, Understood: true, NamesBeijing: true},
		},
		"constraints": {
			clusters: []string{"beijing"}, change: constraints("location is DE"),
			want: answer{Carried: true, Strict: true, Constrained: true, Understood: true, NamesBeijing: true},
		},
		"constraints that cannot be understood": {
			clusters: []string{"beijing"}, change: constraints("location is"),
			want: answer{Carried: true, Strict: true, Constrained: true, NamesBeijing: true},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := object(1, tc.clusters...)
			if tc.change != nil {
				tc.change(o)
			}
			p := policy.Compile(o, nil)
			got := answer{
				Carried: p.Err == nil && p.Order != nil, Strict: p.Strict(), Constrained: p.Constrained(),
				Understood: p.ConstraintsErr == nil, NamesBeijing: p.Names("beijing"), NamesShanghai: p.Names("shanghai"),
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("the compiled policy (-want +got):\n%s", diff)
			}
		})
	}
}

func TestASetTakesOverWhatHasNotChanged(t *testing.T) {
	reborn := object(1, "beijing")
	reborn.UID = "another"
	labelled := object(1, "beijing")
	labelled.Labels = map[string]string{"team": "a"}
	tests := map[string]struct {
		next      *berthv1alpha1.PropagationPolicy
		wantTaken bool
	}{
		"the same":                       {next: object(1, "beijing"), wantTaken: true},
		"other metadata":                 {next: labelled, wantTaken: true},
		"another generation":             {next: object(2, "hangzhou")},
		"deleted and made again":         {next: reborn},
		"gone, and another one is there": {next: func() *berthv1alpha1.PropagationPolicy { p := object(1, "beijing"); p.Name = "other"; return p }()},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			first := object(1, "beijing")
			before := policy.NewSet([]*berthv1alpha1.PropagationPolicy{first}, nil, nil)
			after := policy.NewSet([]*berthv1alpha1.PropagationPolicy{tc.next}, nil, before)
			if len(after) != 1 || after.Of(tc.next) == nil {
				t.Fatalf("the set holds %d policies, want the one that is there", len(after))
			}
			if taken := after.Of(tc.next) == before.Of(first); taken != tc.wantTaken {
				t.Errorf("taken over: %t, want %t", taken, tc.wantTaken)
			}
		})
	}
}

func TestPlansAreKept(t *testing.T) {
	p := webPolicy(t)
	plan := p.Plan(6)
	if got := []int{plan.Share(0), plan.Share(1)}; !cmp.Equal(got, []int{2, 4}) {
		t.Errorf("shares of 6 replicas are %v, want 2 and 4", got)
	}
	if p.Plan(6) != plan {
		t.Error("the plan was made again")
	}
	if got := testing.AllocsPerRun(10, func() { p.Plan(6) }); got != 0 {
		t.Errorf("%v allocations for a plan that is kept", got)
	}
}

func TestPlansOfManySizesAreNotKeptForEver(t *testing.T) {
	p := webPolicy(t)
	plan := p.Plan(6)
	for n := range int32(1000) {
		if got := p.Plan(n).Len(); got != int(n) {
			t.Fatalf("the plan of %d replicas has %d seats", n, got)
		}
	}
	if p.Plan(6) == plan {
		t.Error("a plan is kept after a thousand others")
	}
}

func TestAMistypedNumberOfReplicasCostsNoMoreThanTheMost(t *testing.T) {
	p := webPolicy(t)
	if p.Plan(2147483647) != p.Plan(apportion.MaxSeats) {
		t.Error("numbers of replicas that lead to the same seats have plans of their own")
	}
	small := p.Plan(6)
	p.Plan(apportion.MaxSeats - 1)
	p.Plan(apportion.MaxSeats - 2)
	if p.Plan(6) == small {
		t.Error("three plans of a million seats are kept at once")
	}
}

func TestTable(t *testing.T) {
	p := webPolicy(t)
	var names []string
	ident := func(cluster string) int32 {
		for id, name := range names {
			if name == cluster {
				return int32(id)
			}
		}
		names = append(names, cluster)
		return int32(len(names) - 1)
	}
	idents := func() int { return len(names) }
	ident("shanghai")
	first, ids := p.Table(idents, ident)
	if diff := cmp.Diff([]int32{-1, 0, 1}, first); diff != "" {
		t.Errorf("clusters of the policy by ID (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int32{1, 2}, ids); diff != "" {
		t.Errorf("IDs of the clusters of the policy (-want +got):\n%s", diff)
	}
	if again, _ := p.Table(idents, ident); &again[0] != &first[0] {
		t.Error("the table was made again")
	}
	ident("shenzhen")
	later, _ := p.Table(idents, ident)
	if diff := cmp.Diff([]int32{-1, 0, 1, -1}, later); diff != "" {
		t.Errorf("clusters by ID after another one came (-want +got):\n%s", diff)
	}
}

func TestTheTableOfTheFirstCluster(t *testing.T) {
	p := policy.Compile(object(1, "beijing"), nil)
	known := 0
	count := func() int { return known }
	ident := func(string) int32 {
		known = 1
		return 0
	}
	first, _ := p.Table(count, ident)
	if diff := cmp.Diff([]int32{0}, first); diff != "" {
		t.Errorf("clusters of the policy by ID (-want +got):\n%s", diff)
	}
	if again, _ := p.Table(count, ident); &again[0] != &first[0] {
		t.Error("the table was made again")
	}
}

// TestPoliciesMayBeUsedConcurrently is for the race detector.
func TestPoliciesMayBeUsedConcurrently(t *testing.T) {
	p := webPolicy(t)
	var users sync.WaitGroup
	for u := range 4 {
		users.Go(func() {
			for n := range int32(200) {
				if got := p.Plan(n + int32(u)).Replicas(); got != int64(n)+int64(u) {
					t.Error(fmt.Errorf("the plan of %d replicas is one of %d", int(n)+u, got))
				}
			}
		})
	}
	users.Wait()
}

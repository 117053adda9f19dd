// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package catalog_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/plugins/internal/catalog"
)

// webPolicy returns a policy of two clusters, made ready.
func webPolicy(t *testing.T) *catalog.Policy {
	t.Helper()
	var p *catalog.Policy
	synctest.Test(t, func(t *testing.T) {
		p = newWorld(t, map[string]error{}, policy("default", "web", 1, "beijing", "hangzhou")).Snapshot().Policy("default", "web")
	})
	return p
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

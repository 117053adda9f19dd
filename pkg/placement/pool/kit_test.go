// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/pool"
)

// declared returns a ClusterResource called licences with pools.
func declared(mode berthv1alpha1.PoolMode, pools ...berthv1alpha1.ClusterResourceQuantity) *berthv1alpha1.ClusterResource {
	return &berthv1alpha1.ClusterResource{
		ObjectMeta: metav1.ObjectMeta{Name: "licences"},
		Spec:       berthv1alpha1.ClusterResourceSpec{Mode: mode},
		Status:     berthv1alpha1.ClusterResourceStatus{Allocatable: pools},
	}
}

// of returns a pool; the selector is given as keys and values in turn.
func of(name, quantity string, selector ...string) berthv1alpha1.ClusterResourceQuantity {
	p := berthv1alpha1.ClusterResourceQuantity{Name: name, Quantity: resource.MustParse(quantity)}
	for i := 0; i < len(selector); i += 2 {
		if p.NodeSelector == nil {
			p.NodeSelector = map[string]string{}
		}
		p.NodeSelector[selector[i]] = selector[i+1]
	}
	return p
}

// fatal is a test that can end.
type fatal interface {
	Helper()
	Fatalf(format string, args ...any)
}

func ready(t fatal, object *berthv1alpha1.ClusterResource) *pool.Resource {
	t.Helper()
	r, err := pool.NewResource(object)
	if err != nil {
		t.Fatalf("the pools are refused: %v", err)
	}
	return r
}

// placed returns the places of nodes with labels.
func placed(r *pool.Resource, nodes map[string]map[string]string) *pool.Places {
	p := pool.NewPlaces(r)
	for name, labels := range nodes {
		p.Set(name, labels)
	}
	p.Rank()
	return p
}

// names returns the names of pools given as indexes.
func names(r *pool.Resource, pools []int32) []string {
	found := make([]string, 0, len(pools))
	for _, i := range pools {
		found = append(found, r.Pools()[i].Name)
	}
	return found
}

func quantity(units int64) resource.Quantity {
	return *resource.NewQuantity(units, resource.DecimalSI)
}

// freeIn looks up what is free.
func freeIn(free []int64) pool.Free {
	return func(i int32) int64 { return free[i] }
}

// labels generates labels of nodes and selectors, so few different ones that many pools overlap.
func labels() *rapid.Generator[map[string]string] {
	return rapid.MapOfN(rapid.SampledFrom([]string{"site", "rack", "row"}), rapid.SampledFrom([]string{"a", "b"}), 0, 3)
}

// drawObject generates a ClusterResource with few pools that overlap.
func drawObject(t *rapid.T) *berthv1alpha1.ClusterResource {
	mode := rapid.SampledFrom([]berthv1alpha1.PoolMode{berthv1alpha1.AnyOf, berthv1alpha1.AllOf, ""}).Draw(t, "mode")
	object := declared(mode)
	for i := range rapid.IntRange(0, 6).Draw(t, "pools") {
		object.Status.Allocatable = append(object.Status.Allocatable, berthv1alpha1.ClusterResourceQuantity{
			Name: fmt.Sprintf("p%d", i), Quantity: quantity(rapid.Int64Range(0, 12).Draw(t, "allocatable")),
			NodeSelector: labels().Draw(t, "selector"),
		})
	}
	return object
}

func drawNodes(t *rapid.T) map[string]map[string]string {
	nodes := map[string]map[string]string{}
	for i := range rapid.IntRange(1, 8).Draw(t, "nodes") {
		nodes[fmt.Sprintf("n%d", i)] = labels().Draw(t, "labels")
	}
	return nodes
}

// drawCharges generates what pods hold of the pools, and of one that is not declared any more. Some
// pools may be overcommitted.
func drawCharges(t *rapid.T, r *pool.Resource) [][]pool.Charge {
	poolNames := []string{"gone"}
	for _, p := range r.Pools() {
		poolNames = append(poolNames, p.Name)
	}
	charge := rapid.Custom(func(t *rapid.T) pool.Charge {
		return pool.Charge{
			Resource: r.Name(), Pool: rapid.SampledFrom(poolNames).Draw(t, "pool"),
			Quantity: quantity(rapid.Int64Range(1, 5).Draw(t, "units")),
		}
	})
	return rapid.SliceOfN(rapid.SliceOfN(charge, 1, 3), 0, 8).Draw(t, "charges")
}

func booked(charges ...[]pool.Charge) *pool.Account {
	account := pool.NewAccount()
	for _, c := range charges {
		account.Add(c)
	}
	return account
}

// balance is what an account says of every pool of a resource.
type balance struct {
	Held    string
	Holders int
}

func balanceOf(account *pool.Account, resourceName string) map[string]balance {
	balances := map[string]balance{}
	for _, name := range account.Pools(resourceName) {
		held, holders := account.Held(resourceName, name)
		balances[name] = balance{held.String(), holders}
	}
	return balances
}

func shuffled[T any](t *rapid.T, values []T) []T {
	return rapid.Permutation(slices.Clone(values)).Draw(t, "order")
}

var _ fatal = (*testing.T)(nil)

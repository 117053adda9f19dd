// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/pool"
)

func TestAnAccountEqualsARecountAtEveryStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := ready(t, drawObject(t))
		account := pool.NewAccount()
		var holding [][]pool.Charge
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			if len(holding) > 0 && rapid.Bool().Draw(t, "remove") {
				i := rapid.IntRange(0, len(holding)-1).Draw(t, "pod")
				account.Remove(holding[i])
				holding = slices.Delete(holding, i, i+1)
			} else {
				for _, charges := range drawCharges(t, r) {
					account.Add(charges)
					holding = append(holding, charges)
				}
			}
			recount := booked(holding...)
			if diff := cmp.Diff(balanceOf(recount, r.Name()), balanceOf(account, r.Name())); diff != "" {
				t.Fatalf("balances (-recount +account):\n%s", diff)
			}
			if diff := cmp.Diff(recount.Free(r), account.Free(r)); diff != "" {
				t.Fatalf("free (-recount +account):\n%s", diff)
			}
		}
	})
}

func TestAddThenRemoveIsTheIdentityInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := ready(t, drawObject(t))
		before, passing := drawCharges(t, r), drawCharges(t, r)
		account := booked(before...)
		for _, charges := range shuffled(t, passing) {
			account.Add(charges)
		}
		for _, charges := range shuffled(t, passing) {
			account.Remove(charges)
		}
		if diff := cmp.Diff(balanceOf(booked(before...), r.Name()), balanceOf(account, r.Name())); diff != "" {
			t.Fatalf("balances (-before +after):\n%s", diff)
		}
	})
}

func TestTheOrderOfEventsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := ready(t, drawObject(t))
		charges := drawCharges(t, r)
		if diff := cmp.Diff(booked(charges...).Free(r), booked(shuffled(t, charges)...).Free(r)); diff != "" {
			t.Fatalf("free (-one order +another):\n%s", diff)
		}
	})
}

// feasible says for each node whether a pod that asks for so many units is admitted.
func feasible(r *pool.Resource, nodes map[string]map[string]string, account *pool.Account, units int64) map[string]bool {
	places, free := placed(r, nodes), freeIn(account.Free(r))
	admitted := map[string]bool{}
	for name := range nodes {
		site, _ := places.SiteOf(name)
		admitted[name] = r.Admits(places.Pools(site), free, units)
	}
	return admitted
}

func TestCapacityAndRoomNeverHurt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		object, nodes := drawObject(t), drawNodes(t)
		units := rapid.Int64Range(1, 6).Draw(t, "units")
		r := ready(t, object)
		charges := drawCharges(t, r)
		before := feasible(r, nodes, booked(charges...), units)
		if len(charges) > 0 {
			i := rapid.IntRange(0, len(charges)-1).Draw(t, "leaves")
			charges = slices.Delete(charges, i, i+1)
		}
		for i := range object.Status.Allocatable {
			object.Status.Allocatable[i].Quantity.Add(quantity(rapid.Int64Range(0, 5).Draw(t, "more")))
		}
		after := feasible(ready(t, object), nodes, booked(charges...), units)
		for name, fits := range before {
			if fits && !after[name] {
				t.Fatalf("node %s took a pod of %d units and does not any more", name, units)
			}
		}
	})
}

func TestWhatIsChosenIsNeverMoreThanIsFree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, nodes := ready(t, drawObject(t)), drawNodes(t)
		places, account := placed(r, nodes), booked(drawCharges(t, r)...)
		for range rapid.IntRange(1, 20).Draw(t, "pods") {
			site, _ := places.SiteOf(rapid.SampledFrom(slices.Sorted(maps.Keys(nodes))).Draw(t, "node"))
			units, free := rapid.Int64Range(1, 6).Draw(t, "units"), account.Free(r)
			chosen, ok := r.Choose(places.Pools(site), freeIn(free), units)
			if ok != r.Admits(places.Pools(site), freeIn(free), units) {
				t.Fatalf("a pod of %d units is chosen for: %t, and admitted: %t", units, ok, !ok)
			}
			if ok != oracleAdmits(r, places.Pools(site), free, units) {
				t.Fatalf("a pod of %d units is admitted: %t", units, ok)
			}
			if !ok {
				continue
			}
			account.Add(r.Charges(chosen, pool.Request{Resource: r.Name(), Quantity: quantity(units)}))
			after := account.Free(r)
			for _, i := range chosen {
				if after[i] < 0 {
					t.Fatalf("pool %s is over by %d", r.Pools()[i].Name, -after[i])
				}
			}
		}
	})
}

// oracleAdmits is the rule in other words: how many of the pools have enough.
func oracleAdmits(r *pool.Resource, pools []int32, free []int64, units int64) bool {
	enough := 0
	for _, i := range pools {
		if free[i] >= units {
			enough++
		}
	}
	if r.AllOf() {
		return len(pools) > 0 && enough == len(pools)
	}
	return enough > 0
}

func TestTheOrderOfPoolsAndNodesChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		object, nodes := drawObject(t), drawNodes(t)
		r := ready(t, object)
		charges, units := drawCharges(t, r), rapid.Int64Range(1, 6).Draw(t, "units")
		object.Status.Allocatable = shuffled(t, object.Status.Allocatable)
		other := ready(t, object)
		places, otherPlaces := placed(r, nodes), pool.NewPlaces(other)
		for _, name := range shuffled(t, slices.Sorted(maps.Keys(nodes))) {
			otherPlaces.Set(name, nodes[name])
		}
		otherPlaces.Rank()
		free, otherFree := freeIn(booked(charges...).Free(r)), freeIn(booked(shuffled(t, charges)...).Free(other))
		for name := range nodes {
			site, _ := places.SiteOf(name)
			otherSite, _ := otherPlaces.SiteOf(name)
			want := names(r, r.Owed(places.Pools(site), free, units))
			got := names(other, other.Owed(otherPlaces.Pools(otherSite), otherFree, units))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("charged on %s (-one order +another):\n%s", name, diff)
			}
		}
	})
}

func TestPlacesFollowChangesOfNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := ready(t, drawObject(t))
		places, nodes := pool.NewPlaces(r), map[string]map[string]string{}
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			name := rapid.SampledFrom([]string{"n0", "n1", "n2", "n3"}).Draw(t, "node")
			if rapid.Bool().Draw(t, "drop") {
				places.Drop(name)
				delete(nodes, name)
				continue
			}
			nodes[name] = labels().Draw(t, "labels")
			places.Set(name, nodes[name])
		}
		places.Rank()
		fresh := placed(r, nodes)
		total := 0
		for site := range int32(places.Sites()) {
			total += places.Nodes(site)
		}
		if total != len(nodes) {
			t.Fatalf("the sites have %d nodes, want %d", total, len(nodes))
		}
		for i := range int32(len(r.Pools())) {
			if places.Selected(i) != fresh.Selected(i) {
				t.Fatalf("pool %d selects %d nodes, want %d", i, places.Selected(i), fresh.Selected(i))
			}
		}
		for name := range nodes {
			site, _ := places.SiteOf(name)
			want, _ := fresh.SiteOf(name)
			if diff := cmp.Diff(names(r, fresh.Pools(want)), names(r, places.Pools(site))); diff != "" {
				t.Fatalf("pools of %s (-fresh +changed):\n%s", name, diff)
			}
		}
	})
}

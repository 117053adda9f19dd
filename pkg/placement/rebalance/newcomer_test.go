// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rebalance_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/placement/rebalance"
)

// The scheduler gives a seat to a new pod while the policy controller gives one to pods that run,
// and neither knows yet of what the other does.
func TestANewPodGetsNoSeatThatAPodWithoutOneIsToHave(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		order := drawOrder(t, 1)
		plan := order.Plan(rapid.Int64Range(0, 40).Draw(t, "replicas"))
		var pods []rebalance.Replica
		held := make([]apportion.Held, order.Len())
		for c := range held {
			own := plan.SeatsOf(c)
			for n := range rapid.IntRange(0, len(own)).Draw(t, "pods") {
				pod := rebalance.Replica{Name: order.Name(c) + string(rune('a'+n)), Cluster: c, Place: rebalance.NoPlace, Keep: rebalance.TakenOver}
				if free := rapid.SampledFrom(append(slices.Clone(own), rebalance.NoSeat)).Draw(t, "seat"); !held[c].Has(int64(free)) {
					pod.Place, pod.Keep = rebalance.PlaceOf(free), rebalance.Movable
				}
				held[c].Add(seatOf(pod.Place))
				pods = append(pods, pod)
			}
		}
		places := rebalance.Places(plan, pods)
		for c := range held {
			seat, free := plan.FirstFreeOf(c, &held[c])
			if at := slices.Index(places, rebalance.PlaceOf(int32(seat))); free && at >= 0 {
				t.Fatalf("%s and a new pod of cluster %d are both to have seat %d", pods[at].Name, c, seat)
			}
		}
	})
}

// A Binding carries the seat that was free when it was sent, and may arrive when all pods of the
// workload have got other places. Until then only its sender knows of it.
func TestNoPodGetsASeatThatMayBeOnItsWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		order := drawOrder(t, 1)
		plan := order.Plan(rapid.Int64Range(1, 40).Draw(t, "replicas"))
		var pods []rebalance.Replica
		for n := range rapid.IntRange(0, plan.Len()-1).Draw(t, "pods") {
			c := rapid.IntRange(0, order.Len()-1).Draw(t, "cluster")
			pods = append(pods, rebalance.Replica{
				Name: order.Name(c) + string(rune('a'+n)), Cluster: c,
				Place: max(rebalance.NoPlace, rebalance.Spacing/2*rebalance.Place(rapid.IntRange(-1, 80).Draw(t, "halves"))),
			})
		}
		places := rebalance.Places(plan, pods)
		had := map[rebalance.Place]bool{}
		for i, place := range places {
			if place != pods[i].Place && place != rebalance.NoPlace && place%rebalance.Spacing == 0 {
				t.Fatalf("%s gets seat %d", pods[i].Name, place/rebalance.Spacing)
			}
			if place != rebalance.NoPlace && had[place] {
				t.Fatalf("two pods get place %d", place)
			}
			had[place] = true
		}
	})
}

// seatOf returns the seat whose place it is.
func seatOf(place rebalance.Place) int64 {
	if place == rebalance.NoPlace {
		return int64(rebalance.NoSeat)
	}
	return int64(place / rebalance.Spacing)
}

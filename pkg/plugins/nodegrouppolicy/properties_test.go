// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	modelpolicy "berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/plugintest"
)

// sharesByName returns the share of each cluster that has one.
func sharesByName(order *apportion.Order, replicas int32) map[string]int {
	shares, _ := order.Shares(int64(replicas))
	byName := map[string]int{}
	for i, share := range shares {
		if share > 0 {
			byName[order.Name(i)] = int(share)
		}
	}
	return byName
}

// TestSharesAreExactWhateverHappens lets replicas come and go in random order. Once all that find a
// node have one, every cluster holds exactly its share, and the seats are the first ones, each
// taken once.
func TestSharesAreExactWhateverHappens(t *testing.T) {
	policies := []*plugintest.PolicyWrapper{
		plugintest.MakePolicy("p0").Weight(2, "a").Weight(3, "b"),
		plugintest.MakePolicy("p1").Weight(1, "a", "b", "c"),
		plugintest.MakePolicy("p2").Weight(7, "a").Weight(1, "b", "c"),
		plugintest.MakePolicy("p3").Weight(5, "a").Bounds(0, 2).Weight(1, "b").Bounds(1, -1).Weight(2, "c"),
		plugintest.MakePolicy("p4").Weight(1, "a", "b").Bounds(2, 3),
		plugintest.MakePolicy("p5").Weight(4, "c"),
	}
	objects := plugintest.Sites(2, "a", "b", "c")
	for _, policy := range policies {
		objects = append(objects, policy.Deployment(policy.Name).Obj())
	}
	s := plugintest.New(t, objects)
	rapid.Check(t, func(r *rapid.T) {
		policy := rapid.SampledFrom(policies).Draw(r, "policy")
		replicas := rapid.Int32Range(0, 25).Draw(r, "replicas")
		d, rs := deployment(policy.Name, replicas)
		s.Add(d, rs)
		running := map[string]*corev1.Pod{}
		all := []runtime.Object{rs, d}
		defer func() {
			for _, pod := range running {
				s.Remove(pod)
			}
			s.Remove(all...)
		}()
		next := 0
		placeNext := func() bool {
			pod, _ := s.Place(plugintest.MakePodOf(rs, next).Obj())
			next++
			if pod != nil {
				running[pod.Name] = pod
			}
			return pod != nil
		}
		for range rapid.IntRange(0, 40).Draw(r, "steps") {
			if len(running) > 0 && rapid.IntRange(0, 3).Draw(r, "goes") == 0 {
				name := rapid.SampledFrom(slices.Sorted(maps.Keys(running))).Draw(r, "which")
				s.Remove(running[name])
				delete(running, name)
				continue
			}
			placeNext()
		}
		for placeNext() {
			continue
		}
		order := modelpolicy.Compile(policy.Obj(), nil).Order
		want := sharesByName(order, replicas)
		got, seats := map[string]int{}, []int32{}
		for _, pod := range running {
			given, _ := stamp.Of(pod)
			got[plugintest.SiteOf(pod.Spec.NodeName)]++
			seats = append(seats, given.Seat)
			if owner := order.Seats(int64(given.Seat) + 1)[given.Seat]; order.Name(int(owner)) != given.Cluster {
				r.Fatalf("pod %s in %s has seat %d, which is not of that cluster", pod.Name, given.Cluster, given.Seat)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			r.Fatalf("replicas by cluster (-want +got):\n%s", diff)
		}
		checkFirstSeats(r, seats)
	})
}

// checkFirstSeats checks that the seats are the first ones, each taken once.
func checkFirstSeats(r *rapid.T, seats []int32) {
	slices.Sort(seats)
	for i, seat := range seats {
		if int(seat) != i {
			r.Fatalf("the seats are %v", seats)
		}
	}
}

func TestMetricsOfRejections(t *testing.T) {
	d, rs := deployment("nginx", 1)
	s := newTwoSites(t, append(plugintest.Sites(3, "elsewhere"), beijingHangzhou().Obj(), d, rs)...)
	s.MustPlace(plugintest.MakePodOf(rs, 0).Obj())
	const name = "berth_node_group_rejected_attempts_total"
	before := counters(t, name, "reason")
	s.Try(plugintest.MakePodOf(rs, 1).Obj())
	s.Try(plugintest.MakePodOf(plugintest.ReplicaSet(d, "unknown"), 0).Obj())
	got := map[string]float64{}
	for reason, value := range counters(t, name, "reason") {
		if value > before[reason] {
			got[reason] = value - before[reason]
		}
	}
	// An attempt counts once for each reason, for however many nodes.
	want := map[string]float64{"ShareUsedUp": 1, "NoCluster": 1, "OwnerNotFound": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rejected attempts by reason (-want +got):\n%s", diff)
	}
}

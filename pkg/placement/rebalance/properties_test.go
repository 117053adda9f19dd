// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rebalance_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/placement/rebalance"
)

// world is a random workload with its policy.
type world struct {
	order    *apportion.Order
	replicas int
	pods     []rebalance.Replica
}

// drawOrder draws a seat order. A group that selects by labels may have no cluster.
func drawOrder(t *rapid.T, least int) *apportion.Order {
	clusters := make([]apportion.Cluster, rapid.IntRange(least, 6).Draw(t, "clusters"))
	for i := range clusters {
		clusters[i] = apportion.Cluster{Name: fmt.Sprintf("c%d", i), Weight: rapid.Int64Range(1, 9).Draw(t, "weight")}
	}
	order, err := apportion.NewGroupedOrder([]apportion.Group{{As: apportion.Cluster{Name: "stores", Weight: 1}, Clusters: clusters}})
	if err != nil {
		t.Fatal(err)
	}
	return order
}

// drawWorld draws as many pods as replicas, anywhere, with any seats.
func drawWorld(t *rapid.T) world { return drawWorldOf(t, 0) }

// drawWorldOf draws a world with so many clusters at least.
func drawWorldOf(t *rapid.T, least int) world {
	w := world{order: drawOrder(t, least), replicas: rapid.IntRange(0, 40).Draw(t, "replicas")}
	for i := range w.replicas {
		w.pods = append(w.pods, rebalance.Replica{
			Name:    fmt.Sprintf("pod-%d", i),
			Cluster: rapid.IntRange(rebalance.Elsewhere, w.order.Len()-1).Draw(t, "cluster"),
			Place:   rebalance.Place(rapid.Int32Range(-1, 45000).Draw(t, "place")),
			Cost:    rapid.Int64Range(-45, 3).Draw(t, "cost"),
			Ready:   rapid.Bool().Draw(t, "ready"),
			Age:     time.Duration(rapid.IntRange(0, 100).Draw(t, "age")) * time.Second,
			Keep:    rapid.SampledFrom([]rebalance.Keep{rebalance.Movable, rebalance.Movable, rebalance.NotOurs, rebalance.Protected}).Draw(t, "keep"),
		})
	}
	return w
}

// In the order of their places the pods are in clusters as the seat order says, but for seats that
// nobody has.
func TestPlacesFollowTheSeatOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		plan := w.order.Plan(int64(w.replicas))
		for i, place := range rebalance.Places(plan, w.pods) {
			w.pods[i].Place = place
		}
		pods := slices.DeleteFunc(slices.Clone(w.pods), func(p rebalance.Replica) bool { return p.Place == rebalance.NoPlace })
		slices.SortFunc(pods, func(a, b rebalance.Replica) int { return cmp.Compare(a.Place, b.Place) })
		seat := int64(0)
		for i, p := range pods {
			if i > 0 && p.Place == pods[i-1].Place {
				t.Fatalf("%s and %s both got the place %d", p.Name, pods[i-1].Name, p.Place)
			}
			for owner, ok := plan.Owner(seat); owner != p.Cluster; owner, ok = plan.Owner(seat) {
				if seat++; !ok {
					t.Fatalf("%s in cluster %d has no seat behind those before it: %v", p.Name, p.Cluster, pods)
				}
			}
			seat++
		}
	})
}

func TestOnlySurplusPodsHaveNoSeat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		plan := w.order.Plan(int64(w.replicas))
		held, unseated := make([]int, w.order.Len()), make([]int, w.order.Len())
		for i, place := range rebalance.Places(plan, w.pods) {
			p := &w.pods[i]
			if p.Cluster == rebalance.Elsewhere {
				continue
			}
			held[p.Cluster]++
			if place == rebalance.NoPlace && p.Keep != rebalance.NotOurs {
				unseated[p.Cluster]++
			}
		}
		for c := range held {
			if surplus := max(0, held[c]-plan.Share(c)); unseated[c] > surplus {
				t.Fatalf("%d pods of cluster %d have no seat, but only %d are surplus", unseated[c], c, surplus)
			}
		}
	})
}

func TestPlacesAreStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		plan := w.order.Plan(int64(w.replicas))
		places := rebalance.Places(plan, w.pods)
		again := slices.Clone(w.pods)
		for i := range again {
			again[i].Place = places[i]
		}
		if diff := gocmp.Diff(places, rebalance.Places(plan, again)); diff != "" {
			t.Fatalf("places that were given change at the next look (-first +second):\n%s", diff)
		}
	})
}

func TestPlacesOfAnyWeightsMakeTheNextScaleDownExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		order := drawOrder(t, 1)
		replicas := rapid.IntRange(0, 40).Draw(t, "replicas")
		shares, _ := order.Shares(int64(replicas))
		var pods []rebalance.Replica
		for c, share := range shares {
			for range share {
				pods = append(pods, rebalance.Replica{
					Name: fmt.Sprintf("pod-%d", len(pods)), Cluster: c, Ready: true,
					Place: rebalance.Place(rapid.OneOf(rapid.Int32Range(-1, 45), rapid.Int32Range(0, 45_000)).Draw(t, "place of other weights")),
					Age:   time.Duration(rapid.IntRange(0, 100).Draw(t, "age")) * time.Second,
				})
			}
		}
		for i, place := range rebalance.Places(order.Plan(int64(replicas)), pods) {
			pods[i].Place = place
		}
		// A ReplicaSet deletes the lowest deletion cost, which is the highest place, first.
		slices.SortFunc(pods, func(a, b rebalance.Replica) int { return cmp.Compare(a.Place, b.Place) })
		left := rapid.IntRange(0, replicas).Draw(t, "left")
		got := make([]int64, order.Len())
		for _, p := range pods[:left] {
			got[p.Cluster]++
		}
		want, _ := order.Shares(int64(left))
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("shares after scaling from %d to %d (-want +got):\n%s", replicas, left, diff)
		}
	})
}

func drawRound(t *rapid.T, w world) *rebalance.Round {
	round := &rebalance.Round{
		Plan: w.order.Plan(int64(w.replicas)), Clusters: make([]rebalance.Vacancy, w.order.Len()), Pods: w.pods,
		RolloutFinished: true, MaxUnavailable: rapid.IntRange(1, 10).Draw(t, "max unavailable"),
		MinPodAge: time.Duration(rapid.IntRange(0, 50).Draw(t, "min age")) * time.Second,
	}
	for i := range round.Clusters {
		round.Clusters[i] = rebalance.Vacancy{
			Ready: rapid.IntRange(0, 3).Draw(t, "ready") > 0, Room: rapid.IntRange(0, 5).Draw(t, "room"),
		}
	}
	return round
}

func TestDecideTakesOnlyPodsThatMayGo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		round := drawRound(t, w)
		seen := map[int]bool{}
		for _, v := range rebalance.Decide(round).Victims {
			if p := &w.pods[v.Pod]; p.Keep != rebalance.Movable || p.Age < round.MinPodAge || seen[v.Pod] {
				t.Fatalf("%+v is no victim", *p)
			}
			seen[v.Pod] = true
		}
	})
}

func TestDecideTakesNoMoreThanMayBeMissing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		round := drawRound(t, w)
		victims := rebalance.Decide(round).Victims
		if len(victims) > round.MaxUnavailable {
			t.Fatalf("%d victims, %d may be missing", len(victims), round.MaxUnavailable)
		}
		serving, taken := 0, 0
		for i := range w.pods {
			if w.pods[i].Ready {
				serving++
			}
		}
		for _, v := range victims {
			if w.pods[v.Pod].Ready {
				taken++
			}
		}
		if least := w.replicas - round.MaxUnavailable; taken > 0 && serving-taken < least {
			t.Fatalf("%d replicas serve after the round, at least %d must", serving-taken, least)
		}
	})
}

func TestDecideMovesPodsToWhereTheyAreWantedOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		round := drawRound(t, w)
		misplaced := rebalance.Misplaced(round.Plan, w.order.Len(), w.pods)
		d := rebalance.Decide(round)
		received := make([]int, w.order.Len())
		moved := slices.Clone(w.pods)
		for _, v := range d.Victims {
			received[v.To]++
			moved[v.Pod].Cluster = v.To
		}
		for c, n := range received {
			if n > 0 && (!round.Clusters[c].Ready || n > round.Clusters[c].Room) {
				t.Fatalf("cluster %d receives %d, but is %+v", c, n, round.Clusters[c])
			}
		}
		if left := rebalance.Misplaced(round.Plan, w.order.Len(), moved); left != misplaced-len(d.Victims) {
			t.Fatalf("%d misplaced before, %d moved, %d misplaced after", misplaced, len(d.Victims), left)
		}
		if (len(d.Victims) < misplaced) != (d.Held != "") {
			t.Fatalf("%d of %d misplaced pods move, held back by %q", len(d.Victims), misplaced, d.Held)
		}
	})
}

func TestDecideDoesNotDependOnTheOrderOfPods(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		round := drawRound(t, w)
		shuffled := *round
		shuffled.Pods = rapid.Permutation(w.pods).Draw(t, "shuffled")
		names := func(r *rebalance.Round) []string {
			var names []string
			for _, v := range rebalance.Decide(r).Victims {
				names = append(names, fmt.Sprintf("%s to %d", r.Pods[v.Pod].Name, v.To))
			}
			return names
		}
		if diff := gocmp.Diff(names(round), names(&shuffled)); diff != "" {
			t.Fatalf("victims change with the order (-first +second):\n%s", diff)
		}
	})
}

func TestRoundsEndAfterAsManyEvictionsAsPodsWereMisplaced(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorldOf(t, 1)
		round := drawRound(t, w)
		for i := range round.Clusters {
			round.Clusters[i] = rebalance.Vacancy{Ready: true, Room: 100}
		}
		for i := range w.pods {
			w.pods[i].Keep, w.pods[i].Ready, w.pods[i].Age = rebalance.Movable, true, time.Hour
		}
		initially := rebalance.Misplaced(round.Plan, w.order.Len(), w.pods)
		evictions := 0
		for range initially {
			d := rebalance.Decide(round)
			for _, v := range d.Victims {
				// The replacement lands where a cluster was short, and is a new pod.
				w.pods[v.Pod] = rebalance.Replica{
					Name: fmt.Sprintf("new-%d", evictions), Cluster: v.To, Place: rebalance.NoPlace, Ready: true, Age: time.Hour,
				}
				evictions++
			}
		}
		if left := rebalance.Misplaced(round.Plan, w.order.Len(), w.pods); left != 0 || evictions != initially {
			t.Fatalf("%d misplaced at first, %d evictions, %d still misplaced", initially, evictions, left)
		}
		if d := rebalance.Decide(round); len(d.Victims) != 0 {
			t.Fatalf("a converged workload loses %d pods", len(d.Victims))
		}
	})
}

// Of a StatefulSet as few pods move as if seats could be chosen, if there are two clusters: each
// move is from one that has too many to one that has too few.
func TestOrdinalsOfTwoClustersMoveAsFewAsPossible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		order, err := apportion.NewOrder([]apportion.Cluster{
			{Name: "a", Weight: rapid.Int64Range(1, 9).Draw(t, "a")}, {Name: "b", Weight: rapid.Int64Range(1, 9).Draw(t, "b")},
		})
		if err != nil {
			t.Fatal(err)
		}
		replicas := rapid.IntRange(1, 20).Draw(t, "replicas")
		plan := order.Plan(int64(replicas))
		pods, held := make([]rebalance.Replica, replicas), make([]int, 2)
		for i := range pods {
			pods[i] = rebalance.Replica{
				Name: fmt.Sprintf("db-%d", i), Seat: int32(i), Fixed: true, Fits: true, Ready: true, Age: time.Hour,
				Cluster: rapid.IntRange(0, 1).Draw(t, "cluster"),
			}
			held[pods[i].Cluster]++
		}
		fewest := max(0, held[0]-plan.Share(0)) + max(0, held[1]-plan.Share(1))
		if misplaced := rebalance.Misplaced(plan, 2, pods); misplaced != fewest {
			t.Fatalf("%d are misplaced, want %d", misplaced, fewest)
		}
		decision := rebalance.Decide(&rebalance.Round{
			Plan: plan, Pods: pods, Clusters: []rebalance.Vacancy{{Ready: true}, {Ready: true}}, RolloutFinished: true,
			MaxUnavailable: replicas, SinceRound: time.Hour,
		})
		for _, victim := range decision.Victims {
			held[pods[victim.Pod].Cluster]--
			held[victim.To]++
		}
		if len(decision.Victims) != fewest || held[0] != plan.Share(0) {
			t.Fatalf("%d pods move, want %d, and then a has %d, want %d", len(decision.Victims), fewest, held[0], plan.Share(0))
		}
	})
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package divide_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/divide"
)

var dynamic = []divide.Strategy{divide.Spread, divide.Binpack}

func drawClusters(t *rapid.T) []divide.Target {
	list := roomy(rapid.SliceOfN(rapid.Int64Range(0, 12), 1, 8).Draw(t, "free")...)
	for i := range list {
		list[i].Held = max(0, rapid.Int64Range(-6, 6).Draw(t, "held"))
		list[i].Preference = rapid.Int64Range(0, 2).Draw(t, "preference")
		list[i].Closed = rapid.IntRange(0, 5).Draw(t, "closed") == 0
		list[i].Weight = rapid.Int64Range(0, 5).Draw(t, "weight")
	}
	return list
}

func drawDemand(t *rapid.T) divide.Load {
	d := divide.Load{
		Strategy:    rapid.SampledFrom(dynamic).Draw(t, "strategy"),
		Replicas:    rapid.Int64Range(0, 100).Draw(t, "replicas"),
		MinClusters: max(0, rapid.Int64Range(-4, 5).Draw(t, "minClusters")),
		MaxClusters: max(0, rapid.Int64Range(-4, 6).Draw(t, "maxClusters")),
	}
	if d.MaxClusters > 0 {
		d.MinClusters = min(d.MinClusters, d.MaxClusters)
	}
	return d
}

func must(t *rapid.T, demand divide.Load, clusters []divide.Target) divide.Division {
	d, err := divide.Divide(demand, clusters)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func countUsed(shares []int64) (n int64) {
	for _, share := range shares {
		n += min(share, 1)
	}
	return n
}

// mostPlaced finds by trying all sets of clusters how many further replicas can be placed.
func mostPlaced(demand divide.Load, clusters []divide.Target) int64 {
	var best int64
	for set := range 1 << len(clusters) {
		var room, inUse int64
		for i, c := range clusters {
			added := set&(1<<i) != 0
			if added && !c.Closed {
				room += c.Free
			}
			if added || c.Held > 0 {
				inUse++
			}
		}
		if demand.MaxClusters == 0 || inUse <= demand.MaxClusters || inUse == countUsed(heldBy(clusters)) {
			best = max(best, room)
		}
	}
	return best
}

func heldBy(clusters []divide.Target) []int64 {
	held := make([]int64, len(clusters))
	for i := range clusters {
		held[i] = clusters[i].Held
	}
	return held
}

func TestAllIsPlacedForWhichThereIsRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		demand, clusters := drawDemand(t), drawClusters(t)
		held := sum(heldBy(clusters))
		want := min(demand.Replicas, held+mostPlaced(demand, clusters))
		d := must(t, demand, clusters)
		if got := sum(d.Shares); got != want || d.Unplaced != demand.Replicas-want {
			t.Fatalf("shares %v, unplaced %d, want %d placed", d.Shares, d.Unplaced, want)
		}
	})
}

func TestNoClusterGetsMoreThanItHasRoomFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clusters := drawClusters(t)
		for i, share := range must(t, drawDemand(t), clusters).Shares {
			c, most := clusters[i], clusters[i].Held
			if !c.Closed {
				most += c.Free
			}
			if share < 0 || share > most {
				t.Fatalf("%s gets %d, has room for %d", c.Name, share, most)
			}
		}
	})
}

func TestNothingMovesWithoutNeed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		demand, clusters := drawDemand(t), drawClusters(t)
		held := heldBy(clusters)
		for i, share := range must(t, demand, clusters).Shares {
			switch total := sum(held); {
			case demand.Replicas == total && share != held[i],
				demand.Replicas > total && share < held[i],
				demand.Replicas < total && share > held[i]:
				t.Fatalf("%s has %d and gets %d where %d replicas become %d", clusters[i].Name, held[i], share, total, demand.Replicas)
			}
		}
	})
}

func TestTheOrderOfClustersDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		demand, clusters := drawDemand(t), drawClusters(t)
		demand.Strategy = rapid.SampledFrom(append(dynamic, divide.Replication)).Draw(t, "any strategy")
		permuted := rapid.Permutation(clusters).Draw(t, "permuted")
		a, b := must(t, demand, clusters), must(t, demand, permuted)
		if diff := cmp.Diff(used(clusters, a.Shares), used(permuted, b.Shares)); diff != "" {
			t.Fatalf("shares differ (-listed +permuted):\n%s", diff)
		}
	})
}

func TestMaxClusters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		demand, clusters := drawDemand(t), drawClusters(t)
		before := countUsed(heldBy(clusters))
		after := countUsed(must(t, demand, clusters).Shares)
		if most := max(demand.MaxClusters, before); demand.MaxClusters > 0 && after > most {
			t.Fatalf("%d clusters are in use, before %d, want at most %d", after, before, most)
		}
	})
}

func TestMinClusters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		demand, clusters := drawDemand(t), drawClusters(t)
		held := heldBy(clusters)
		possible := int64(0)
		for _, c := range clusters {
			if c.Held > 0 || !c.Closed && c.Free > 0 && demand.Replicas > sum(held) {
				possible++
			}
		}
		if demand.MaxClusters > 0 {
			possible = min(possible, max(demand.MaxClusters, countUsed(held)))
		}
		// Each cluster that is taken into use needs a replica more.
		want := min(demand.MinClusters, possible, demand.Replicas, countUsed(held)+max(0, demand.Replicas-sum(held)))
		if got := countUsed(must(t, demand, clusters).Shares); got < want {
			t.Fatalf("%d clusters are in use, want %d", got, want)
		}
	})
}

func TestBinpackUsesAsFewClustersAsPossible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clusters := roomy(rapid.SliceOfN(rapid.Int64Range(0, 12), 1, 8).Draw(t, "free")...)
		demand := divide.Load{Strategy: divide.Binpack, Replicas: rapid.Int64Range(0, 60).Draw(t, "replicas")}
		d := must(t, demand, clusters)
		var fewest int64
		free := []int64{}
		for _, c := range clusters {
			free = append(free, c.Free)
		}
		slices.Sort(free)
		for rest := sum(d.Shares); rest > 0; fewest++ {
			rest -= free[len(free)-1-int(fewest)]
		}
		if got := countUsed(d.Shares); got != fewest {
			t.Fatalf("%d clusters are in use, want %d: %v", got, fewest, d.Shares)
		}
	})
}

// What is preferred less gets something only if there is no room left where it is preferred more.
func TestPreferredClustersTakeAsMuchAsTheyCan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		demand, clusters := drawDemand(t), drawClusters(t)
		demand.MinClusters, demand.MaxClusters = 0, 0
		shares := must(t, demand, clusters).Shares
		for i, less := range clusters {
			for j, more := range clusters {
				if shares[i] > less.Held && more.Preference > less.Preference && !more.Closed && shares[j] < more.Held+more.Free {
					t.Fatalf("%s gets a replica although %s has room", less.Name, more.Name)
				}
			}
		}
	})
}

func TestSeatsAreTheShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clusters := drawClusters(t)
		d := must(t, drawDemand(t), clusters)
		got := make([]int64, len(clusters))
		for _, cluster := range d.Seats() {
			got[cluster]++
		}
		if diff := cmp.Diff(d.Shares, got); diff != "" {
			t.Fatalf("replicas differ (-shares +seats):\n%s", diff)
		}
	})
}

func TestRebalanceIsADivisionOfAllThereIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		demand, clusters := drawDemand(t), drawClusters(t)
		fresh := slices.Clone(clusters)
		for i := range fresh {
			fresh[i].Free, fresh[i].Held = fresh[i].Free+fresh[i].Held, 0
		}
		want := must(t, demand, fresh)
		demand.Rebalance = true
		if diff := cmp.Diff(want.Shares, must(t, demand, clusters).Shares); diff != "" {
			t.Fatalf("shares differ (-want +got):\n%s", diff)
		}
	})
}

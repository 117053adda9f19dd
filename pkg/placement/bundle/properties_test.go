// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/bundle"
	"berth.dev/berth/pkg/placement/divide"
)

var sites = []string{"a", "b", "c", "d"}

// anyShares draws numbers of replicas by cluster, of which some may not be selected.
func anyShares(t *rapid.T, label string, most int64) replicas {
	shares := replicas{}
	for _, name := range append(sites, "gone") {
		if n := rapid.Int64Range(0, most).Draw(t, label+" in "+name); n > 0 {
			shares[name] = n
		}
	}
	return shares
}

func anyFeed(t *rapid.T) bundle.Feed {
	f := bundle.Feed{
		Name: "Deployment web", Recorded: anyShares(t, "recorded", 4), Bound: anyShares(t, "bound", 3), HasPods: rapid.Bool().Draw(t, "has pods"),
		Copyable: rapid.Bool().Draw(t, "copyable"), Home: rapid.SampledFrom(append(sites, "")).Draw(t, "home"),
	}
	if rapid.Bool().Draw(t, "published") {
		f.Recorded, f.Published = nil, f.Recorded
	}
	switch rapid.IntRange(0, 9).Draw(t, "what is known") {
	case 0:
		f.Obstacle, f.KeepsRecord = "it is away", rapid.Bool().Draw(t, "keeps its record")
	case 1: // It is copied whole.
	default:
		f.Wanted = new(rapid.Int64Range(0, 9).Draw(t, "wanted"))
	}
	return f
}

func anySubscription(t *rapid.T) bundle.Subscription {
	s := bundle.Subscription{
		Name:     "shop/web",
		Strategy: rapid.SampledFrom([]divide.Strategy{divide.Replication, divide.Static, divide.Spread, divide.Binpack}).Draw(t, "strategy"),
		Pledged:  rapid.Bool().Draw(t, "pledged"), Expired: rapid.Bool().Draw(t, "expired"), Rebalance: rapid.Bool().Draw(t, "rebalance"),
		MinClusters: rapid.Int64Range(0, 2).Draw(t, "min"), MaxClusters: rapid.SampledFrom([]int64{0, 2, 3}).Draw(t, "max"),
		Feeds: rapid.SliceOfN(rapid.Custom(anyFeed), 1, 3).Draw(t, "feeds"),
	}
	s.Bundled = s.Strategy != divide.Replication && rapid.Bool().Draw(t, "bundled")
	for _, name := range sites {
		if rapid.IntRange(0, 3).Draw(t, name+" is selected") == 0 {
			continue
		}
		s.Clusters = append(s.Clusters, bundle.SelectedCluster{
			Name: name, Labels: labels.Set{"site": name}, Weight: rapid.Int64Range(0, 3).Draw(t, "weight"),
			Preference: rapid.Int64Range(0, 1).Draw(t, "preference"), Open: rapid.IntRange(0, 3).Draw(t, name+" is open") > 0,
		})
	}
	if rapid.Bool().Draw(t, "by subgroup") {
		s.Subgroups = []divide.Selection{{Selector: labels.Everything(), Clusters: rapid.IntRange(0, 3).Draw(t, "of a subgroup")}}
	}
	return s
}

// anyWorld draws Subscriptions and how many CPUs are free and what a replica of each feed costs.
func anyWorld(t *rapid.T) (subscriptions []bundle.Subscription, free replicas, costs map[bundle.Ref]int64) {
	subscriptions = rapid.SliceOfN(rapid.Custom(anySubscription), 1, 4).Draw(t, "Subscriptions")
	free, costs = replicas{}, map[bundle.Ref]int64{}
	for _, name := range sites {
		free[name] = rapid.Int64Range(0, 9).Draw(t, "free in "+name)
	}
	for i := range subscriptions {
		for f := range subscriptions[i].Feeds {
			costs[bundle.Ref{Subscription: i, Feed: f}] = rapid.Int64Range(1, 3).Draw(t, "cost")
		}
	}
	return subscriptions, free, costs
}

func decide(t *rapid.T, subscriptions []bundle.Subscription, free replicas, costs map[bundle.Ref]int64) []bundle.Result {
	results, err := bundle.Decide(subscriptions, &cpus{free: maps.Clone(free), costs: costs})
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// promises reports whether the shares of a Subscription need room: those by weight do only when a
// bundle is admitted.
func promises(s *bundle.Subscription, r *bundle.Result) bool {
	return s.Strategy.ByRoom() || s.Bundled && r.Admission == bundle.Granted
}

func TestNeverMoreThanThereIsRoomFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		subscriptions, free, costs := anyWorld(t)
		used := replicas{}
		for i, r := range decide(t, subscriptions, free, costs) {
			s := &subscriptions[i]
			for f := range s.Feeds {
				if s.Feeds[f].Wanted == nil || !promises(s, &r) {
					continue
				}
				for name, n := range r.Feeds[f].Shares {
					used[name] += max(0, n-s.Feeds[f].Bound[name]) * costs[bundle.Ref{Subscription: i, Feed: f}]
				}
			}
		}
		for name, n := range used {
			if n > free[name] {
				t.Errorf("%d CPUs are promised in %s, of which %d are free", n, name, free[name])
			}
		}
	})
}

func TestABundleIsAdmittedWholeOrNotAtAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		subscriptions, free, costs := anyWorld(t)
		for i, r := range decide(t, subscriptions, free, costs) {
			s := &subscriptions[i]
			if (r.Admission == bundle.NotNeeded) == s.Bundled || (r.Admission == bundle.Waits) != (r.Waiting != "") {
				t.Errorf("admission is %q of a bundle: %t, which waits because %q", r.Admission, s.Bundled, r.Waiting)
			}
			for f := range s.Feeds {
				feed, division := &s.Feeds[f], &r.Feeds[f]
				if feed.Wanted == nil || !s.Bundled {
					continue
				}
				if r.Admission == bundle.Granted && division.Unplaced > 0 {
					t.Errorf("%d replicas of an admitted bundle have no place", division.Unplaced)
				}
				for name, n := range division.Shares {
					if r.Admission == bundle.Waits && n > feed.Bound[name] {
						t.Errorf("a bundle that waits has %d replicas in %s, where %d run", n, name, feed.Bound[name])
					}
				}
			}
		}
	})
}

func TestSharesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		subscriptions, free, costs := anyWorld(t)
		for i, r := range decide(t, subscriptions, free, costs) {
			s := &subscriptions[i]
			for f := range s.Feeds {
				wanted, division := s.Feeds[f].Wanted, &r.Feeds[f]
				if wanted == nil || s.Strategy == divide.Replication || s.Strategy == divide.Static && r.Problem != nil && !s.Bundled {
					continue
				}
				if got := bundle.Sum(division.Shares) + division.Unplaced; got != *wanted && r.Admission != bundle.Kept {
					t.Errorf("feed %d of Subscription %d has %d replicas with and without a place, want %d", f, i, got, *wanted)
				}
			}
		}
	})
}

func TestTheOrderOfClustersDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		subscriptions, free, costs := anyWorld(t)
		want := decide(t, subscriptions, free, costs)
		seed := rapid.Uint64().Draw(t, "seed")
		shuffled := slices.Clone(subscriptions)
		for i := range shuffled {
			shuffled[i].Clusters = slices.Clone(shuffled[i].Clusters)
			list := shuffled[i].Clusters
			rand.New(rand.NewPCG(seed, uint64(i))).Shuffle(len(list), func(a, b int) { list[a], list[b] = list[b], list[a] })
		}
		if diff := cmp.Diff(want, decide(t, shuffled, free, costs)); diff != "" {
			t.Errorf("results with clusters in another order (-want +got):\n%s", diff)
		}
	})
}

// recordAnswer writes an answer into the Subscription that it is about, as the controller would.
func recordAnswer(s *bundle.Subscription, answer *bundle.Result) {
	s.Pledged, s.Expired = answer.Admission == bundle.Kept || answer.Admission == bundle.Granted, false
	for f := range s.Feeds {
		if s.Strategy.ByRoom() && s.Feeds[f].Wanted != nil {
			s.Feeds[f].Recorded = answer.Feeds[f].Shares
		}
	}
}

// checkNothingMoves compares two answers about the Subscription with number i.
func checkNothingMoves(t *rapid.T, i int, s *bundle.Subscription, first, second *bundle.Result) {
	t.Helper()
	for f := range second.Feeds {
		before, after := first.Feeds[f].Shares, second.Feeds[f].Shares
		for name, n := range before {
			if s.Strategy.ByRoom() && second.Admitted() && first.Admitted() && after[name] < n && len(s.Subgroups) == 0 {
				t.Errorf("feed %d of Subscription %d moves from %v to %v", f, i, before, after)
			}
		}
	}
}

func TestNothingMovesWhileNothingChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		subscriptions, free, costs := anyWorld(t)
		for i := range subscriptions {
			subscriptions[i].Rebalance = false
		}
		first := decide(t, subscriptions, free, costs)
		for i := range subscriptions {
			recordAnswer(&subscriptions[i], &first[i])
		}
		second := decide(t, subscriptions, free, costs)
		for i := range second {
			checkNothingMoves(t, i, &subscriptions[i], &first[i], &second[i])
		}
	})
}

// FuzzDecide feeds a decision with what the schema of the API would refuse: it may fail, but not
// panic.
func FuzzDecide(f *testing.F) {
	f.Add("Spread", int64(3), int64(4), int64(1), int64(2), int64(0), uint8(0))
	f.Add("Static", int64(-1), int64(1)<<40, int64(-5), int64(1)<<62, int64(-1), uint8(255))
	f.Add("Binpack", int64(9), int64(9), int64(9), int64(9), int64(9), uint8(7))
	f.Fuzz(func(t *testing.T, name string, wanted, held, weight, free, limit int64, flags uint8) {
		s := bundle.Subscription{
			Strategy: divide.Strategy(name), MinClusters: limit, MaxClusters: wanted, Bundled: flags&1 > 0, Pledged: flags&2 > 0,
			Expired: flags&4 > 0, Rebalance: flags&8 > 0,
			Clusters: []bundle.SelectedCluster{{Name: "a", Weight: weight, Preference: weight, Open: flags&16 > 0}, {Name: "b", Weight: 1, Open: true}},
			Feeds:    []bundle.Feed{{Wanted: &wanted, Recorded: replicas{"a": held, "c": held}, Bound: replicas{"a": weight}, Home: "a"}},
		}
		if flags&32 > 0 {
			s.Subgroups = []divide.Selection{{Selector: labels.Everything(), Clusters: int(limit)}}
		}
		_, _ = bundle.Decide([]bundle.Subscription{s, s}, &cpus{free: replicas{"a": free, "b": held}})
	})
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rendezvous_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/rendezvous"
)

func clusters(n int) []rendezvous.Object {
	list := make([]rendezvous.Object, n)
	for i := range list {
		list[i].Name = fmt.Sprintf("cluster%d", i)
	}
	return list
}

func schedulers(n int) []rendezvous.Server {
	list := make([]rendezvous.Server, n)
	for i := range list {
		list[i].Name = fmt.Sprintf("scheduler%d", i)
	}
	return list
}

func assign(
	t rapid.TB, c []rendezvous.Object, s []rendezvous.Server, options rendezvous.Options,
) (*rendezvous.Assignment, map[string]string) {
	t.Helper()
	a, err := rendezvous.Assign(c, s, options)
	if err != nil {
		t.Fatalf("Assign: %v", err)
	}
	owners := make(map[string]string, len(c))
	for i, owner := range a.Owners {
		if owner >= 0 {
			owners[c[i].Name] = s[owner].Name
		}
	}
	return a, owners
}

// The vectors are frozen: whoever changes them moves the clusters of everybody who upgrades.
func TestGoldenVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Version string
		Hashes  []struct{ Scheduler, Cluster, Hash string }
		Owners  []struct {
			Clusters, Schedulers, LoadFactor int
			Owners                           map[string]string
		}
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	if golden.Version != rendezvous.HashVersion {
		t.Errorf("the vectors are of version %s, the hash of version %s", golden.Version, rendezvous.HashVersion)
	}
	for _, v := range golden.Hashes {
		if got := fmt.Sprintf("%016x", rendezvous.Hash(v.Scheduler, v.Cluster)); got != v.Hash {
			t.Errorf("Hash(%q, %q) = %s, want %s", v.Scheduler, v.Cluster, got, v.Hash)
		}
	}
	for _, v := range golden.Owners {
		_, got := assign(t, clusters(v.Clusters), schedulers(v.Schedulers),
			rendezvous.Options{LoadFactor: rendezvous.LoadFactor(v.LoadFactor)})
		if diff := cmp.Diff(v.Owners, got); diff != "" {
			t.Errorf("%d clusters, %d schedulers, factor %d: (-want +got)\n%s", v.Clusters, v.Schedulers, v.LoadFactor, diff)
		}
	}
}

func TestAssignRefuses(t *testing.T) {
	one, many := clusters(1), schedulers(2)
	tests := map[string]struct {
		clusters   []rendezvous.Object
		schedulers []rendezvous.Server
		options    rendezvous.Options
		wantError  string
	}{
		"an empty cluster name": {[]rendezvous.Object{{}}, many, rendezvous.Options{}, "cluster: the name is empty"},
		"a cluster twice": {
			[]rendezvous.Object{{Name: "a"}, {Name: "a"}}, many, rendezvous.Options{}, `cluster "a" is listed twice`,
		},
		"a scheduler twice": {
			one, []rendezvous.Server{{Name: "s"}, {Name: "s"}}, rendezvous.Options{}, `scheduler "s" is listed twice`,
		},
		"a negative weight": {
			one, []rendezvous.Server{{Name: "s", Weight: -1}}, rendezvous.Options{},
			`scheduler "s": weight -1 is not between 1 and 1000`,
		},
		"a load factor below one": {
			one, many, rendezvous.Options{LoadFactor: 999}, "load factor 0.999 is not between 1 and 1000",
		},
		"too many schedulers": {
			one, schedulers(1001), rendezvous.Options{}, "1 clusters and 1001 schedulers are too many to share out at once",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := rendezvous.Assign(tc.clusters, tc.schedulers, tc.options)
			if err == nil || err.Error() != tc.wantError {
				t.Errorf("got error %v, want %s", err, tc.wantError)
			}
		})
	}
}

func TestNoSchedulersLeaveClustersUnbound(t *testing.T) {
	a, _ := assign(t, clusters(3), nil, rendezvous.Options{})
	if diff := cmp.Diff([]int{-1, -1, -1}, a.Owners); diff != "" {
		t.Errorf("owners (-want +got)\n%s", diff)
	}
}

func TestCapacityIsExactInThousandths(t *testing.T) {
	a, _ := assign(t, clusters(10), schedulers(1), rendezvous.Options{LoadFactor: 1100})
	if a.Capacities[0] != 11 {
		t.Errorf("1.1 times 10 clusters is a capacity of %d, want 11", a.Capacities[0])
	}
}

func drawSchedulers(t *rapid.T, least int) []rendezvous.Server {
	return rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) rendezvous.Server {
		return rendezvous.Server{
			Name:   rapid.StringMatching(`[a-z][a-z0-9-]{0,8}`).Draw(t, "name"),
			Weight: rapid.IntRange(0, 20).Draw(t, "weight"),
		}
	}), least, 12, func(s rendezvous.Server) string { return s.Name }).Draw(t, "schedulers")
}

func drawClusters(t *rapid.T) []rendezvous.Object {
	return rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) rendezvous.Object {
		return rendezvous.Object{
			Name:     rapid.StringMatching(`[a-z][a-z0-9-]{0,8}`).Draw(t, "name"),
			Province: rapid.SampledFrom([]string{"", "p1", "p2", "p3"}).Draw(t, "province"),
			City:     rapid.SampledFrom([]string{"", "c1", "c2", "c3"}).Draw(t, "city"),
		}
	}), 0, 120, func(c rendezvous.Object) string { return c.Name }).Draw(t, "clusters")
}

func drawOptions(t *rapid.T) rendezvous.Options {
	return rendezvous.Options{
		LoadFactor: rendezvous.LoadFactor(rapid.IntRange(1000, 2000).Draw(t, "factor")),
		GroupBy: rapid.SampledFrom([]rendezvous.GroupBy{
			rendezvous.GroupByNone, rendezvous.GroupByCity, rendezvous.GroupByProvince,
		}).Draw(t, "groupBy"),
	}
}

func TestEveryClusterIsBoundWithinTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, s, options := drawClusters(t), drawSchedulers(t, 1), drawOptions(t)
		a, owners := assign(t, c, s, options)
		if len(owners) != len(c) {
			t.Fatalf("%d of %d clusters have an owner", len(owners), len(c))
		}
		weights := 0
		for _, scheduler := range s {
			weights += max(1, scheduler.Weight)
		}
		loads := make([]int, len(s))
		for _, owner := range a.Owners {
			loads[owner]++
		}
		for i, scheduler := range s {
			if loads[i] != a.Loads[i] {
				t.Errorf("%s: load %d reported as %d", scheduler.Name, loads[i], a.Loads[i])
			}
			// load <= ceil(x) is load < x + 1, multiplied out.
			if fair := int(options.LoadFactor) * len(c) * max(1, scheduler.Weight); 1000*weights*loads[i] >= fair+1000*weights {
				t.Errorf("%s: load %d of %d clusters is beyond its bound", scheduler.Name, loads[i], len(c))
			}
		}
	})
}

func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, s, options := drawClusters(t), drawSchedulers(t, 0), drawOptions(t)
		for i := range c {
			c[i].Size = 1 << rapid.IntRange(0, 6).Draw(t, "size")
		}
		_, want := assign(t, c, s, options)
		shuffle := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		shuffle.Shuffle(len(c), func(i, j int) { c[i], c[j] = c[j], c[i] })
		shuffle.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
		_, got := assign(t, c, s, options)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("another order gives other owners (-want +got)\n%s", diff)
		}
	})
}

// No cluster and scheduler may prefer each other to what they got: that is what makes the matching
// the only stable one.
func TestMatchingIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, s := drawClusters(t), drawSchedulers(t, 1)
		for i := range s {
			s[i].Weight = 1
		}
		a, _ := assign(t, c, s, rendezvous.Options{})
		worst := make([]uint64, len(s)) // the score of the worst cluster of each scheduler
		for i := range worst {
			worst[i] = 1<<64 - 1
		}
		for i, owner := range a.Owners {
			worst[owner] = min(worst[owner], rendezvous.Hash(s[owner].Name, c[i].Name))
		}
		for i, owner := range a.Owners {
			mine := rendezvous.Hash(s[owner].Name, c[i].Name)
			for j := range s {
				theirs := rendezvous.Hash(s[j].Name, c[i].Name)
				if theirs > mine && (a.Loads[j] < a.Capacities[j] || theirs > worst[j]) {
					t.Fatalf("%s and %s prefer each other", c[i].Name, s[j].Name)
				}
			}
		}
	})
}

// The bound is a whole number. With only a few clusters for each scheduler one more scheduler can
// lower it by a large part, and what is above it must move; that is why this speaks of at least a
// dozen clusters for each.
func TestOnlyNecessaryClustersMove(t *testing.T) {
	for _, n := range []int{60, 300, 1000, 3000} {
		for _, m := range []int{2, 3, 5, 10, 32} {
			if n < 12*m {
				continue
			}
			t.Run(fmt.Sprintf("%d clusters, %d schedulers", n, m), func(t *testing.T) {
				c, s := clusters(n), schedulers(m+1)
				_, before := assign(t, c, s[:m], rendezvous.Options{})
				_, after := assign(t, c, s, rendezvous.Options{})
				moved, others := 0, 0
				for name, owner := range before {
					if after[name] != owner {
						moved++
						// Read backwards this is the removal of the last scheduler.
						if after[name] != s[m].Name {
							others++
						}
					}
				}
				if limit := 12*n/(10*(m+1)) + 2; moved > limit {
					t.Errorf("adding a scheduler moves %d clusters, want at most %d", moved, limit)
				}
				if limit := 5*n/100 + 2; others > limit {
					t.Errorf("removing a scheduler moves %d clusters of others, want at most %d", others, limit)
				}
			})
		}
	}
}

func TestWeightsShareInProportionWithoutABound(t *testing.T) {
	s := []rendezvous.Server{{Name: "small", Weight: 1}, {Name: "large", Weight: 3}}
	a, _ := assign(t, clusters(4000), s, rendezvous.Options{LoadFactor: rendezvous.MaxLoadFactor})
	if a.Loads[0] < 900 || a.Loads[0] > 1100 {
		t.Errorf("weights 1 and 3 share 4000 clusters as %v", a.Loads)
	}
}

func TestPlacesStayTogetherUntilTheyAreTooLarge(t *testing.T) {
	var c []rendezvous.Object
	for i := range 40 {
		place := rendezvous.Object{Name: fmt.Sprintf("c%02d", i), Province: "small", City: fmt.Sprintf("s%d", i%2)}
		if i >= 8 {
			place.Province, place.City = "large", fmt.Sprintf("l%d", i%8)
		}
		c = append(c, place)
	}
	a, _ := assign(t, c, schedulers(4), rendezvous.Options{
		GroupBy: rendezvous.GroupByProvince, LoadFactor: 1500,
	})
	ownersOf := func(of func(rendezvous.Object) string) map[string][]int {
		owners := map[string][]int{}
		for i, owner := range a.Owners {
			if place := of(c[i]); !slices.Contains(owners[place], owner) {
				owners[place] = append(owners[place], owner)
			}
		}
		return owners
	}
	provinces := ownersOf(func(c rendezvous.Object) string { return c.Province })
	if len(provinces["small"]) != 1 {
		t.Errorf("the province of 8 clusters fits under the bound of 15, yet has %d owners", len(provinces["small"]))
	}
	for city, owners := range ownersOf(func(c rendezvous.Object) string { return c.City }) {
		if len(owners) != 1 {
			t.Errorf("city %s of 4 clusters has %d owners", city, len(owners))
		}
	}
}

func BenchmarkAssign(b *testing.B) {
	for _, size := range []struct{ clusters, schedulers int }{{1000, 10}, {10_000, 100}} {
		b.Run(fmt.Sprintf("%dx%d", size.clusters, size.schedulers), func(b *testing.B) {
			c, s := clusters(size.clusters), schedulers(size.schedulers)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := rendezvous.Assign(c, s, rendezvous.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestBalance shares 1 to 10,000 clusters of one size out, none of them pinned.
func TestBalance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, m := rapid.IntRange(1, 10_000).Draw(t, "clusters"), rapid.IntRange(1, 12).Draw(t, "schedulers")
		if rapid.Bool().Draw(t, "few") {
			n = 1 + n%60
		}
		size := rapid.SampledFrom([]int{0, 1, 8, 1024}).Draw(t, "size")
		c := clusters(n)
		for i := range c {
			c[i].Size = size
		}
		a, owners := assign(t, c, schedulers(m), rendezvous.Options{})
		if len(owners) != n {
			t.Fatalf("%d of %d clusters have an owner", len(owners), n)
		}
		counts := make([]int, m)
		for _, owner := range a.Owners {
			counts[owner]++
		}
		most := max((n+m-1)/m+1, 11*n/(10*m))
		if got := slices.Max(counts); got > most {
			t.Errorf("%d clusters among %d schedulers: one has %d, want at most %d", n, m, got, most)
		}
	})
}

// Up to four clusters of one size for each scheduler are shared out by the weights, with no more
// than one too many or too few.
func TestFewClustersAreSharedOutExactly(t *testing.T) {
	three := []rendezvous.Server{{Name: "a", Weight: 2}, {Name: "b", Weight: 1}, {Name: "c", Weight: 1}}
	if a, _ := assign(t, clusters(12), three, rendezvous.Options{}); !slices.Equal(a.Loads, []int{6, 3, 3}) {
		t.Errorf("12 clusters are shared out by 2:1:1 as %v", a.Loads)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchedulers(t, 1)
		n, size := rapid.IntRange(0, 4*len(s)).Draw(t, "clusters"), rapid.SampledFrom([]int{0, 1, 64}).Draw(t, "size")
		c, weights := clusters(n), 0
		for i := range c {
			c[i].Size = size
		}
		for _, scheduler := range s {
			weights += max(1, scheduler.Weight)
		}
		a, _ := assign(t, c, s, rendezvous.Options{})
		for i, scheduler := range s {
			if share := n * max(1, scheduler.Weight); a.Loads[i] < share/weights || a.Loads[i] > (share+weights-1)/weights {
				t.Errorf("%s has %d clusters, its share is %d/%d", scheduler.Name, a.Loads[i], share, weights)
			}
		}
	})
}

// TestSizesAndPinsCount gives clusters sizes and pins: who has more than its share by pins gets
// nothing else, and nobody else exceeds its part of the rest by more than the largest cluster.
func TestSizesAndPinsCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, s := drawClusters(t), drawSchedulers(t, 1)
		total, largest, weights := 0, 1, 0
		for i := range c {
			c[i].Size = 1 << rapid.IntRange(0, 6).Draw(t, "size")
			total, largest = total+c[i].Size, max(largest, c[i].Size)
			if rapid.IntRange(0, 4).Draw(t, "pinned") == 0 {
				c[i].Pin = s[rapid.IntRange(0, len(s)-1).Draw(t, "pin")].Name
			}
		}
		for _, scheduler := range s {
			weights += max(1, scheduler.Weight)
		}
		a, owners := assign(t, c, s, rendezvous.Options{GroupBy: drawOptions(t).GroupBy})
		free, pinned := make([]int, len(s)), make([]int, len(s))
		for i, owner := range a.Owners {
			if c[i].Pin == "" {
				free[owner] += c[i].Size
				continue
			}
			pinned[owner] += c[i].Size
			if owners[c[i].Name] != c[i].Pin {
				t.Errorf("cluster %s is pinned to %s and went to %s", c[i].Name, c[i].Pin, owners[c[i].Name])
			}
		}
		for i, scheduler := range s {
			// Without the pins of others the share is not larger than this.
			share := total * max(1, scheduler.Weight)
			if pinned[i]*weights > share && free[i] > 0 {
				t.Errorf("%s has more than its share by pins and got %d more", scheduler.Name, free[i])
			}
			if load := free[i] + pinned[i]; free[i] > 0 && 10*weights*load > 11*share+10*weights*(largest+1) {
				t.Errorf("%s: load %d of %d is beyond its bound", scheduler.Name, load, total)
			}
		}
	})
}

func TestRegionsStayTogether(t *testing.T) {
	c := clusters(36)
	for i := range c {
		c[i].Region = fmt.Sprint("r", i/4)
	}
	_, owners := assign(t, c, schedulers(3), rendezvous.Options{GroupBy: rendezvous.GroupByRegion})
	for i := range c {
		if first := c[i/4*4].Name; owners[c[i].Name] != owners[first] {
			t.Errorf("%s of region %s went to %s, %s to %s", c[i].Name, c[i].Region, owners[c[i].Name], first, owners[first])
		}
	}
}

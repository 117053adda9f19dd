// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/grouping"
)

// province puts a Cluster into a province.
func province(name string, c *berthv1alpha1.Cluster) *berthv1alpha1.Cluster {
	c.Spec.GeoLocation = &berthv1alpha1.GeoLocation{Province: name}
	return c
}

// set makes a list of one resource.
func set[L ~map[N]resource.Quantity, N ~string](list *L, name N, amount string) {
	*list = L{name: resource.MustParse(amount)}
}

func withCPU(amount string, c *berthv1alpha1.Cluster) *berthv1alpha1.Cluster {
	set(&c.Status.Allocatable, "cpu", amount)
	return c
}

// withPool gives a Cluster units of the ClusterResource licences.
func withPool(units int64, c *berthv1alpha1.Cluster) *berthv1alpha1.Cluster {
	c.Status.Pools = []berthv1alpha1.ClusterPools{{ClusterResource: "licences", Units: units}}
	return c
}

// withRoom gives a Cluster room for so much cpu.
func withRoom(amount string, c *berthv1alpha1.Cluster) *berthv1alpha1.Cluster {
	set(&c.Status.Room, "cpu", amount)
	return c
}

func withRoomForMemory(amount string, c *berthv1alpha1.Cluster) *berthv1alpha1.Cluster {
	set(&c.Status.Room, "memory", amount)
	return c
}

// everything is a group of all Clusters.
func everything(change func(*group)) group {
	g := group{Name: "all", ClusterSelector: &metav1.LabelSelector{}}
	change(&g)
	return g
}

func TestClusterWeights(t *testing.T) {
	byCPU := everything(func(g *group) {
		g.ClusterWeights = &berthv1alpha1.ClusterWeights{Type: berthv1alpha1.WeighAllocatable, Resource: "cpu"}
	})
	byPool := everything(func(g *group) {
		g.ClusterWeights = &berthv1alpha1.ClusterWeights{Type: berthv1alpha1.WeighPool, ClusterResource: "licences"}
	})
	byRoom, byRoomOfMemory := everything(func(g *group) {
		g.ClusterWeights = &berthv1alpha1.ClusterWeights{Type: berthv1alpha1.WeighRoom}
	}), everything(func(g *group) {
		g.ClusterWeights = &berthv1alpha1.ClusterWeights{Type: berthv1alpha1.WeighRoom, Resource: "memory"}
	})
	byLabel := everything(func(g *group) {
		g.ClusterWeights = &berthv1alpha1.ClusterWeights{Type: berthv1alpha1.WeighLabel, LabelKey: "size"}
	})
	tests := map[string]struct {
		group          group
		sites          []*berthv1alpha1.Cluster
		want           map[string]int64
		wantUnweighted []grouping.Unweighted
	}{
		"by cpu": {
			group: byCPU, sites: []*berthv1alpha1.Cluster{withCPU("64", site("a")), withCPU("32", site("b")), withCPU("32", site("c"))},
			want: map[string]int64{"a": 6, "b": 3, "c": 3},
		},
		"nothing is known of one": {
			group: byCPU, sites: []*berthv1alpha1.Cluster{withCPU("2", site("a")), site("b")},
			want: map[string]int64{"a": 12, "b": 0}, wantUnweighted: []grouping.Unweighted{{Group: "all", Why: "their nodes have no cpu", Clusters: []string{"b"}}},
		},
		"by a pool": {
			group: byPool, sites: []*berthv1alpha1.Cluster{withPool(8, site("a")), withPool(4, site("b")), withCPU("4", site("c"))},
			want: map[string]int64{"a": 5, "b": 3, "c": 4},
		},
		"by a pool of one, that has not been counted everywhere": {
			group: byPool, sites: []*berthv1alpha1.Cluster{withPool(1, site("a")), withPool(1, site("b")), withCPU("4", site("c"))},
			want: map[string]int64{"a": 4, "b": 4, "c": 4},
		},
		"by a pool that is not everywhere": {
			group: byPool, sites: []*berthv1alpha1.Cluster{withPool(8, site("a")), withPool(4, site("b")), withPool(0, withCPU("4", site("c")))},
			want:           map[string]int64{"a": 8, "b": 4, "c": 0},
			wantUnweighted: []grouping.Unweighted{{Group: "all", Why: "no pool of ClusterResource licences has their nodes", Clusters: []string{"c"}}},
		},
		"by a pool that has been counted nowhere": {
			group: byPool, sites: []*berthv1alpha1.Cluster{withCPU("4", site("a")), withCPU("4", site("b"))},
			want:           map[string]int64{"a": 0, "b": 0},
			wantUnweighted: []grouping.Unweighted{{Group: "all", Why: "no pool of ClusterResource licences has their nodes", Clusters: []string{"a", "b"}}},
		},
		"by a pool that has been counted in the first cluster": {
			group: byPool, sites: []*berthv1alpha1.Cluster{
				withPool(8, site("a")), withCPU("4", site("b")), withCPU("4", site("c")), site("without-nodes"),
			},
			want:           map[string]int64{"a": 4, "b": 4, "c": 4, "without-nodes": 0},
			wantUnweighted: []grouping.Unweighted{{Group: "all", Why: "no pool of ClusterResource licences has their nodes", Clusters: []string{"without-nodes"}}},
		},
		"by a pool, and nobody has looked yet at a cluster": {
			group: byPool, sites: []*berthv1alpha1.Cluster{withPool(8, site("a")), withPool(8, site("b")), unseen(site("c"))},
			want: map[string]int64{"a": 4, "b": 4, "c": 4},
		},
		"by cpu, and nobody has looked yet at a cluster": {
			group: byCPU, sites: []*berthv1alpha1.Cluster{withCPU("2", site("a")), unseen(site("b"))},
			want: map[string]int64{"a": 6, "b": 6},
		},
		"by a pool, of which two significant bits count": {
			group: byPool, sites: []*berthv1alpha1.Cluster{withPool(9, site("a")), withPool(5, site("b"))},
			want: map[string]int64{"a": 8, "b": 4},
		},
		"by room, without a resource that of cpu": {
			group: byRoom, sites: []*berthv1alpha1.Cluster{
				withCPU("64", withRoom("4", site("a"))), withCPU("4", withRoom("2", site("b"))),
			},
			want: map[string]int64{"a": 8, "b": 4},
		},
		"by room for memory": {
			group: byRoomOfMemory, sites: []*berthv1alpha1.Cluster{
				withRoomForMemory("4Gi", withCPU("1", site("a"))), withRoomForMemory("2Gi", withCPU("9", site("b"))),
			},
			want: map[string]int64{"a": 8, "b": 4},
		},
		"two are full, and one has no cpu at all": {
			group: byRoom, sites: []*berthv1alpha1.Cluster{
				withRoom("4", site("a")), withCPU("8", withRoom("0", site("b"))), withCPU("8", withRoom("-3", site("c"))), withRoom("0", site("d")),
			},
			want:           map[string]int64{"a": 12, "b": 0, "c": 0, "d": 0},
			wantUnweighted: []grouping.Unweighted{{Group: "all", Why: "their nodes have no cpu", Clusters: []string{"d"}}},
		},
		"the room of one has been counted": {
			group: byRoom, sites: []*berthv1alpha1.Cluster{withRoom("4", site("a")), withCPU("8", site("b"))},
			want: map[string]int64{"a": 6, "b": 6},
		},
		"by a label": {
			group: byLabel, sites: []*berthv1alpha1.Cluster{site("a", "size", "1"), site("b", "size", "3"), site("c", "size", "0")},
			want: map[string]int64{"a": 3, "b": 9, "c": 0},
		},
		"labels that are no numbers": {
			group: byLabel, sites: []*berthv1alpha1.Cluster{
				site("a", "size", "2"), site("b", "size", "big"), site("c"), site("d", "size", "-1"), site("e", "size", "9999999999"),
			},
			want:           map[string]int64{"a": 12, "b": 0, "c": 0, "d": 0, "e": 0},
			wantUnweighted: []grouping.Unweighted{{Group: "all", Why: "their label size is missing or no number", Clusters: []string{"b", "c", "d", "e"}}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			l, err := layoutOf([]group{tc.group}, tc.sites...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, sharesOf(t, l, 12)); diff != "" {
				t.Errorf("shares (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantUnweighted, l.Unweighted); diff != "" {
				t.Errorf("clusters without a weight (-want +got):\n%s", diff)
			}
		})
	}
}

// A node more or less of many does not change the weight of a cluster.
func TestWeightsByCapacityAreRounded(t *testing.T) {
	byMemory := everything(func(g *group) {
		g.ClusterWeights = &berthv1alpha1.ClusterWeights{Type: berthv1alpha1.WeighAllocatable, Resource: "memory"}
	})
	layout := func(a string) *grouping.Layout {
		one, other := site("a"), site("b")
		set(&one.Status.Allocatable, "memory", a)
		set(&other.Status.Allocatable, "memory", "4000Ti")
		l, err := layoutOf([]group{byMemory}, one, other)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	if full, less := layout("4100Ti"), layout("5000Ti"); !full.Equal(less) {
		t.Error("a few nodes change the weight of a large cluster")
	}
	if half, full := layout("2000Ti"), layout("4000Ti"); half.Equal(full) {
		t.Error("twice the capacity is no other weight")
	}
}

func sites(provinces map[string]string) []*berthv1alpha1.Cluster {
	var list []*berthv1alpha1.Cluster
	for name, in := range provinces {
		list = append(list, province(in, site(name)))
	}
	return list
}

func TestSpreadConstraints(t *testing.T) {
	spread := func(most, least int32) group {
		return everything(func(g *group) {
			if most > 0 {
				g.MaxClusters = &most
			}
			g.SpreadConstraints = []berthv1alpha1.SpreadConstraint{{Field: berthv1alpha1.SpreadByProvince, MinGroups: least}}
		})
	}
	many := map[string]string{"a1": "a", "a2": "a", "a3": "a", "a4": "a", "a5": "a", "a6": "a", "b1": "b", "c1": "c"}
	tests := map[string]struct {
		group       group
		sites       map[string]string
		replicas    int64
		want        int // different provinces with replicas
		wantRelaxed []grouping.Relaxed
	}{
		"the first replicas go to different provinces": {group: spread(0, 3), sites: many, replicas: 3, want: 3},
		"fewer replicas than provinces":                {group: spread(0, 3), sites: many, replicas: 2, want: 2},
		"the clusters that are chosen":                 {group: spread(3, 3), sites: many, replicas: 9, want: 3},
		"fewer provinces than wanted": {
			group: spread(0, 4), sites: many, replicas: 8, want: 3,
			wantRelaxed: []grouping.Relaxed{{Group: "all", Field: "geoLocation.province", Wanted: 4, Found: 3}},
		},
		"clusters without a province": {
			group: spread(0, 2), sites: map[string]string{"a1": "a", "x": "", "y": ""}, replicas: 3, want: 2,
			wantRelaxed: []grouping.Relaxed{{Group: "all", Field: "geoLocation.province", Wanted: 2, Found: 1}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			l, err := layoutOf([]group{tc.group}, sites(tc.sites)...)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]bool{}
			for name, n := range sharesOf(t, l, tc.replicas) {
				if n > 0 {
					got[tc.sites[name]] = true
				}
			}
			if len(got) != tc.want {
				t.Errorf("replicas are in the provinces %v, want %d", got, tc.want)
			}
			if diff := cmp.Diff(tc.wantRelaxed, l.Relaxed); diff != "" {
				t.Errorf("relaxed constraints (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAClusterThatGetsNothingSatisfiesNoSpreadConstraint has the second province in a cluster
// without a weight.
func TestAClusterThatGetsNothingSatisfiesNoSpreadConstraint(t *testing.T) {
	g := everything(func(g *group) {
		g.ClusterWeights = &berthv1alpha1.ClusterWeights{Type: berthv1alpha1.WeighLabel, LabelKey: "share"}
		g.SpreadConstraints = []berthv1alpha1.SpreadConstraint{{Field: berthv1alpha1.SpreadByProvince, MinGroups: 2}}
	})
	a, b := province("north", site("a")), province("south", site("b"))
	a.Labels, b.Labels = map[string]string{"share": "1"}, map[string]string{"share": "0"}
	l, err := layoutOf([]group{g}, a, b)
	if err != nil {
		t.Fatal(err)
	}
	want := []grouping.Relaxed{{Group: "all", Field: "geoLocation.province", Wanted: 2, Found: 1}}
	if diff := cmp.Diff(want, l.Relaxed); diff != "" {
		t.Errorf("relaxed constraints (-want +got):\n%s", diff)
	}
}

// TestAClusterThatGetsNothingTakesNoFirstSeat has it before the others by its name.
func TestAClusterThatGetsNothingTakesNoFirstSeat(t *testing.T) {
	g := everything(func(g *group) {
		g.ClusterWeights = &berthv1alpha1.ClusterWeights{Type: berthv1alpha1.WeighLabel, LabelKey: "share"}
		g.SpreadConstraints = []berthv1alpha1.SpreadConstraint{{Field: berthv1alpha1.SpreadByProvince, MinGroups: 2}}
	})
	l, err := layoutOf([]group{g}, province("north", site("a", "share", "0")), province("south", site("b", "share", "1")),
		province("south", site("c", "share", "9")), province("north", site("d", "share", "1")))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int64{"a": 0, "b": 0, "c": 1, "d": 1}, sharesOf(t, l, 2)); diff != "" {
		t.Errorf("shares (-want +got):\n%s", diff)
	}
}

// TestFirstSeatsAreTakenInTurn has a small cluster that brings two new values, and so comes before
// a larger one that brings one.
func TestFirstSeatsAreTakenInTurn(t *testing.T) {
	g := everything(func(g *group) {
		g.ClusterWeights = &berthv1alpha1.ClusterWeights{Type: berthv1alpha1.WeighLabel, LabelKey: "share"}
		g.SpreadConstraints = []berthv1alpha1.SpreadConstraint{
			{Field: berthv1alpha1.SpreadByLabel, LabelKey: "zone", MinGroups: 3}, {Field: berthv1alpha1.SpreadByLabel, LabelKey: "power", MinGroups: 2},
		}
	})
	l, err := layoutOf([]group{g}, site("a", "share", "9", "zone", "1", "power", "x"), site("b", "share", "1", "zone", "2", "power", "y"),
		site("c", "share", "5", "zone", "3", "power", "x"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int64{"a": 1, "b": 1, "c": 0}, sharesOf(t, l, 2)); diff != "" {
		t.Errorf("shares (-want +got):\n%s", diff)
	}
}

// A group without clusters is told of as such, and not by what it cannot satisfy.
func TestAnEmptyGroupSatisfiesItsSpreadConstraints(t *testing.T) {
	l, err := layoutOf([]group{everything(func(g *group) {
		g.SpreadConstraints = []berthv1alpha1.SpreadConstraint{{Field: berthv1alpha1.SpreadByProvince, MinGroups: 2}}
	})})
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Relaxed) > 0 || len(l.Empty) != 1 {
		t.Errorf("relaxed are %v, empty %v", l.Relaxed, l.Empty)
	}
}

// With a limit a site that comes takes the place of one other at most, and moves nobody else.
func TestAFurtherSiteChangesOneChoiceAtMost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count, most := rapid.IntRange(1, 60).Draw(t, "sites"), rapid.Int32Range(1, 12).Draw(t, "most")
		g := everything(func(g *group) { g.MaxClusters = &most })
		list := make([]*berthv1alpha1.Cluster, count+1)
		for i := range list {
			list[i] = site(fmt.Sprintf("site-%d", i))
		}
		chosen := func(sites []*berthv1alpha1.Cluster) map[string]bool {
			l, err := layoutOf([]group{g}, sites...)
			if err != nil {
				t.Fatal(err)
			}
			order, err := l.Order()
			if err != nil {
				t.Fatal(err)
			}
			names := map[string]bool{}
			for i := range order.Len() {
				names[order.Name(i)] = true
			}
			return names
		}
		before, after := chosen(list[:count]), chosen(list)
		if len(before) != min(count, int(most)) || len(after) != min(count+1, int(most)) {
			t.Fatalf("%d and %d of %d and %d are chosen, at most %d may be", len(before), len(after), count, count+1, most)
		}
		gone := 0
		for name := range before {
			if !after[name] {
				gone++
			}
		}
		if gone > 1 {
			t.Fatalf("%d sites lose their place to one", gone)
		}
	})
}

func TestOnlyClustersThatTakePodsAreChosen(t *testing.T) {
	g := everything(func(g *group) { g.MaxClusters = new(int32(1)) })
	l, err := layoutOf([]group{g}, cordoned(site("a")), cordoned(site("b")), site("c"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int64{"a": 0, "b": 0, "c": 3}, sharesOf(t, l, 3)); diff != "" {
		t.Errorf("shares (-want +got):\n%s", diff)
	}
}

func TestALaterTierTakesWhatEarlierOnesCannot(t *testing.T) {
	l, err := layoutOf([]group{
		{Name: "burst", ClusterNames: []string{"cloud"}, Tier: new(int32(1))},
		{Name: "home", ClusterSelector: &metav1.LabelSelector{}, ReplicasPerCluster: new(int32(2))},
	}, site("a"), site("b"))
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int64]int64{4: 0, 7: 3} {
		if got := sharesOf(t, l, n)["cloud"]; got != want {
			t.Errorf("of %d replicas cloud has %d, want %d", n, got, want)
		}
	}
}

func TestTheOthersHaveTheSeatsOfAClusterThatWasLeft(t *testing.T) {
	all := grouping.NewSites([]*berthv1alpha1.Cluster{site("a"), site("b")}, nil)
	for name, placement := range map[string]*berthv1alpha1.Placement{
		"groups":  {ClusterGroups: []group{everything(func(*group) {})}},
		"weights": {StaticWeightList: []weight{{ClusterNames: []string{"a", "b"}, Weight: 1}}},
	} {
		l, err := grouping.NewLayout(placement, "shop/web", all, "a")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]int64{"a": 0, "b": 4}, sharesOf(t, l, 4)); diff != "" {
			t.Errorf("%s: shares (-want +got):\n%s", name, diff)
		}
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/pool"
)

func TestPoolsThatCannotBeUsed(t *testing.T) {
	inUnitsOf := func(unit string) *berthv1alpha1.ClusterResource {
		object, quantity := declared("", of("a", "3")), resource.MustParse(unit)
		object.Spec.Unit = &quantity
		return object
	}
	for name, tc := range map[string]struct {
		object *berthv1alpha1.ClusterResource
		want   string
	}{
		"two of one name":            {declared("", of("a", "1"), of("a", "2")), "two pools are called a"},
		"two without a name":         {declared("", of("", "1"), of("", "2")), "two pools are called default"},
		"no multiple of the unit":    {inUnitsOf("2"), "pool a: 3 is no multiple of the unit"},
		"half a licence":             {declared("", of("a", "500m")), "pool a: 500m is no multiple of the unit"},
		"a unit of nothing":          {inUnitsOf("0"), "the unit must be greater than 0"},
		"a unit that would hang":     {inUnitsOf("1e2147483647"), "the unit is too large"},
		"a negative amount":          {declared("", of("a", "-1")), "pool a: the quantity must not be negative"},
		"thirty digits":              {declared("", of("a", strings.Repeat("9", 30))), "pool a: the quantity is too large"},
		"an amount that would hang":  {declared("", of("a", "1e2147483647")), "pool a: the quantity is too large"},
		"one that prints as another": {declared("", of("a", "100000E")), "pool a: the quantity is too large"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := pool.NewResource(tc.object); err == nil || err.Error() != tc.want {
				t.Errorf("error = %v, want %q", err, tc.want)
			}
		})
	}
}

func TestAPoolMayBeEmptyAndNeedNoName(t *testing.T) {
	r := ready(t, declared("", of("", "0")))
	want := []pool.Pool{{Name: "default"}}
	if diff := cmp.Diff(want, r.Pools()); diff != "" {
		t.Errorf("pools (-want +got):\n%s", diff)
	}
	if i, found := r.Index("default"); !found || i != 0 {
		t.Errorf("index = %d, %t", i, found)
	}
	if _, found := r.Index("other"); found {
		t.Error("there is a pool called other")
	}
}

// While no controller manager runs, the status does not follow the spec.
func TestASpecThatDeclaresLessCounts(t *testing.T) {
	capacity := func(pools ...berthv1alpha1.ClusterResourceQuantity) []berthv1alpha1.ClusterResourceQuantity {
		return pools
	}
	for name, tc := range map[string]struct {
		spec []berthv1alpha1.ClusterResourceQuantity
		want map[string]int64
	}{
		"nothing, so that another program writes the status": {nil, map[string]int64{"a": 7, "default": 3}},
		"the same":                    {capacity(of("a", "7"), of("default", "3")), map[string]int64{"a": 7, "default": 3}},
		"less of one":                 {capacity(of("a", "1"), of("", "3")), map[string]int64{"a": 1, "default": 3}},
		"more of one":                 {capacity(of("a", "9"), of("", "3")), map[string]int64{"a": 7, "default": 3}},
		"one no more":                 {capacity(of("a", "7")), map[string]int64{"a": 7, "default": 0}},
		"a new one":                   {capacity(of("a", "7"), of("", "3"), of("b", "5")), map[string]int64{"a": 7, "default": 3}},
		"a quantity that is no units": {capacity(of("a", "500m"), of("", "3")), map[string]int64{"a": 7, "default": 3}},
		"a quantity that would hang":  {capacity(of("a", "1e2147483647"), of("", "3")), map[string]int64{"a": 7, "default": 3}},
	} {
		t.Run(name, func(t *testing.T) {
			object := declared("", of("a", "7"), of("", "3"))
			object.Spec.Capacity = tc.spec
			got := map[string]int64{}
			for _, p := range ready(t, object).Pools() {
				got[p.Name] = p.Allocatable
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("allocatable units (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhichPoolsSelectANode(t *testing.T) {
	r := ready(t, declared(berthv1alpha1.AnyOf,
		of("all", "9"), of("site", "9", "site", "a"), of("rack", "9", "site", "a", "rack", "1"), of("nowhere", "9", "site", "z")))
	places := placed(r, map[string]map[string]string{
		"n1": {"site": "a", "rack": "1"}, "n2": {"site": "a", "rack": "2"}, "n3": {"site": "b", "rack": "1"}, "n4": nil,
	})
	for name, tc := range map[string]struct {
		node string
		want []string
	}{
		"the most specific pool comes first": {"n1", []string{"rack", "site", "all"}},
		"one label of two is not enough":     {"n2", []string{"site", "all"}},
		"another value does not match":       {"n3", []string{"all"}},
		"a node without labels":              {"n4", []string{"all"}},
	} {
		t.Run(name, func(t *testing.T) {
			site, known := places.SiteOf(tc.node)
			if !known {
				t.Fatal("the node is not known")
			}
			if diff := cmp.Diff(tc.want, names(r, places.Pools(site))); diff != "" {
				t.Errorf("pools (-want +got):\n%s", diff)
			}
		})
	}
	if i, _ := r.Index("nowhere"); places.Selected(i) != 0 {
		t.Errorf("a selector that matches no node selects %d", places.Selected(i))
	}
}

func TestPoolsWithAsManyNodesAreTakenByName(t *testing.T) {
	r := ready(t, declared("", of("b", "1"), of("a", "1"), of("c", "1", "site", "a")))
	places := placed(r, map[string]map[string]string{"n1": {"site": "a"}})
	if diff := cmp.Diff([]string{"a", "b", "c"}, names(r, places.At(map[string]string{"site": "a"}))); diff != "" {
		t.Errorf("pools (-want +got):\n%s", diff)
	}
}

func TestWhereThereIsNoNodeYetPoolsAreInOrderToo(t *testing.T) {
	r := ready(t, declared("", of("b", "1"), of("a", "1")))
	if diff := cmp.Diff([]string{"a", "b"}, names(r, pool.NewPlaces(r).At(nil))); diff != "" {
		t.Errorf("pools (-want +got):\n%s", diff)
	}
}

func TestFiveHundredPools(t *testing.T) {
	pools := make([]berthv1alpha1.ClusterResourceQuantity, 500)
	nodes := map[string]map[string]string{}
	for i := range pools {
		rack := fmt.Sprintf("r%d", i)
		pools[i] = of(rack, "1", "rack", rack)
		nodes["n-"+rack] = map[string]string{"rack": rack}
	}
	r := ready(t, declared(berthv1alpha1.AnyOf, pools...))
	places := placed(r, nodes)
	if places.Sites() != 500 {
		t.Errorf("%d sites, want 500", places.Sites())
	}
	site, _ := places.SiteOf("n-r499")
	if diff := cmp.Diff([]string{"r499"}, names(r, places.Pools(site))); diff != "" || places.Nodes(site) != 1 {
		t.Errorf("%d nodes; pools (-want +got):\n%s", places.Nodes(site), diff)
	}
}

func TestPoolsAreSelectedInTheOrderOfTheirDeclaration(t *testing.T) {
	r := ready(t, declared("", of("rack", "1", "rack", "1", "site", "a"), of("all", "1"), of("site", "1", "site", "a")))
	if diff := cmp.Diff([]int32{0, 1, 2}, r.Select(map[string]string{"site": "a", "rack": "1"})); diff != "" {
		t.Errorf("pools (-want +got):\n%s", diff)
	}
}

func TestNodesOfTheSamePoolsAreOneSite(t *testing.T) {
	r := ready(t, declared("", of("a", "1", "site", "a"), of("b", "1", "site", "b")))
	places := placed(r, map[string]map[string]string{
		"n1": {"site": "a"}, "n2": {"site": "a", "rack": "1"}, "n3": {"site": "b"},
	})
	one, _ := places.SiteOf("n1")
	if other, _ := places.SiteOf("n2"); other != one || places.Sites() != 2 || places.Nodes(one) != 2 {
		t.Errorf("two nodes of one pool are of the sites %d and %d of %d; the first has %d nodes", one, other, places.Sites(), places.Nodes(one))
	}
}

func TestPoolsAreRankedAnewOnceNodesHaveChanged(t *testing.T) {
	r := ready(t, declared("", of("rack", "1", "rack", "1"), of("site", "1", "site", "a")))
	both, rack := map[string]string{"site": "a", "rack": "1"}, map[string]string{"rack": "1"}
	places := placed(r, map[string]map[string]string{"n1": both, "n2": rack, "n3": rack})
	ranked := func() []string {
		places.Rank()
		site, _ := places.SiteOf("n1")
		return names(r, places.Pools(site))
	}
	if diff := cmp.Diff([]string{"site", "rack"}, ranked()); diff != "" {
		t.Errorf("pools with one site and three racks (-want +got):\n%s", diff)
	}
	version := places.Version()
	places.Drop("n2")
	places.Drop("n3")
	if diff := cmp.Diff([]string{"rack", "site"}, ranked()); diff != "" {
		t.Errorf("pools with one node each (-want +got):\n%s", diff)
	}
	if places.Version() == version {
		t.Error("nodes have gone, and the version is as before")
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/pool"
)

func TestWhichPoolIsCharged(t *testing.T) {
	for name, tc := range map[string]struct {
		mode berthv1alpha1.PoolMode
		// rack and site are what is free in the two pools of the node, the first the more specific
		// one.
		rack, site, units int64
		want              []string
		wantOK            bool
		// wantOwed is what a pod that runs there anyway is charged.
		wantOwed []string
	}{
		"the most specific pool that has enough": {
			rack: 3, site: 9, units: 3, want: []string{"rack"}, wantOK: true, wantOwed: []string{"rack"},
		},
		"the next one if that has too little": {
			rack: 2, site: 9, units: 3, want: []string{"site"}, wantOK: true, wantOwed: []string{"site"},
		},
		"never two together": {
			rack: 2, site: 2, units: 3, wantOwed: []string{"rack"},
		},
		"an overcommitted pool has nothing": {
			rack: -1, site: 0, units: 1, wantOwed: []string{"rack"},
		},
		"all of them have enough": {
			mode: berthv1alpha1.AllOf, rack: 3, site: 9, units: 3, want: []string{"rack", "site"}, wantOK: true,
			wantOwed: []string{"rack", "site"},
		},
		"one of all has too little": {
			mode: berthv1alpha1.AllOf, rack: 9, site: 2, units: 3, want: []string{"rack", "site"},
			wantOwed: []string{"rack", "site"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := ready(t, declared(tc.mode, of("rack", "9", "rack", "1"), of("site", "9")))
			places := placed(r, map[string]map[string]string{"n1": {"rack": "1"}, "n2": nil})
			pools, free := places.At(map[string]string{"rack": "1"}), freeIn([]int64{tc.rack, tc.site})
			chosen, ok := r.Choose(pools, free, tc.units)
			if diff := cmp.Diff(tc.want, names(r, chosen)); ok != tc.wantOK || ok && diff != "" {
				t.Errorf("chosen: %t, want %t (-want +got):\n%s", ok, tc.wantOK, diff)
			}
			if admits := r.Admits(pools, free, tc.units); admits != tc.wantOK {
				t.Errorf("admitted: %t, want %t", admits, tc.wantOK)
			}
			if diff := cmp.Diff(tc.wantOwed, names(r, r.Owed(pools, free, tc.units))); diff != "" {
				t.Errorf("owed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestANodeWithoutPoolsHasNothing(t *testing.T) {
	for _, mode := range []berthv1alpha1.PoolMode{berthv1alpha1.AnyOf, berthv1alpha1.AllOf} {
		t.Run(string(mode), func(t *testing.T) {
			r := ready(t, declared(mode, of("rack", "9", "rack", "1")))
			pools, free := pool.NewPlaces(r).At(map[string]string{"rack": "2"}), freeIn([]int64{9})
			if _, ok := r.Choose(pools, free, 1); ok || r.Admits(pools, free, 1) || r.Suffices(pools, 1) {
				t.Error("a pod is admitted where no pool selects the node")
			}
			if owed := r.Owed(pools, free, 1); len(owed) != 0 {
				t.Errorf("a pod there is charged to %v", names(r, owed))
			}
		})
	}
}

func TestSufficesAsksWhetherWaitingCanHelp(t *testing.T) {
	r := ready(t, declared(berthv1alpha1.AnyOf, of("rack", "2"), of("site", "3")))
	pools := pool.NewPlaces(r).At(nil)
	if !r.Suffices(pools, 3) {
		t.Error("3 do not fit into an empty pool of 3")
	}
	if r.Suffices(pools, 4) {
		t.Error("4 fit into an empty pool of 3")
	}
}

func TestWhatAPodOnANodeIsCharged(t *testing.T) {
	r := ready(t, declared(berthv1alpha1.AnyOf, of("rack", "2", "rack", "1"), of("site", "9")))
	places := placed(r, map[string]map[string]string{"n1": {"rack": "1"}, "n2": nil})
	request := pool.Request{Resource: "licences", Quantity: resource.MustParse("1500m")}
	for name, tc := range map[string]struct {
		node string
		free []int64
		want []pool.Charge
	}{
		"the most specific pool": {
			node: "n1", free: []int64{2, 9}, want: []pool.Charge{{Resource: "licences", Pool: "rack", Quantity: request.Quantity}},
		},
		"the next one if that has less than the whole units": {
			node: "n1", free: []int64{1, 9}, want: []pool.Charge{{Resource: "licences", Pool: "site", Quantity: request.Quantity}},
		},
		"the only one": {
			node: "n2", free: []int64{2, 9}, want: []pool.Charge{{Resource: "licences", Pool: "site", Quantity: request.Quantity}},
		},
		"nothing where the node is not known": {node: "n3", free: []int64{2, 9}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, places.Owed(tc.node, request, freeIn(tc.free))); diff != "" {
				t.Errorf("charges (-want +got):\n%s", diff)
			}
		})
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package spending

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/pool"
)

func TestAllowanceLimit(t *testing.T) {
	r := resources(licence(1)).Get("licence").Pools
	for name, tc := range map[string]struct {
		grants     *Grants
		caps       map[pool.Key]int64
		held, free int64
		want       int64
	}{
		"no Scheduler has no limit":        {grants: NewGrants(""), held: 3, free: 7, want: 7},
		"a Scheduler has nothing at first": {grants: NewGrants("a"), held: 0, free: 7, want: 0},
		"what is left of the grant": {
			grants: NewGrants("a"), caps: map[pool.Key]int64{all: 5}, held: 3, free: 7, want: 2,
		},
		"no more than is free": {
			grants: NewGrants("a"), caps: map[pool.Key]int64{all: 5}, held: 3, free: 1, want: 1,
		},
		"less than nothing, if more is held": {
			grants: NewGrants("a"), caps: map[pool.Key]int64{all: 5}, held: 6, free: 7, want: -1,
		},
		"a grant of another pool": {
			grants: NewGrants("a"), caps: map[pool.Key]int64{other: 5}, held: 0, free: 7, want: 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.caps != nil {
				tc.grants.set(tc.caps)
			}
			free := []int64{tc.free}
			got := tc.grants.Allowance().Limit(r, func(*pool.Resource) []int64 { return []int64{tc.held} }, free)
			if diff := cmp.Diff([]int64{tc.want}, got); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
			if free[0] != tc.free {
				t.Errorf("what is free has been changed to %d", free[0])
			}
		})
	}
}

func TestSet(t *testing.T) {
	for name, tc := range map[string]struct {
		lifted        bool
		before, after map[pool.Key]int64
		wantRaised    map[pool.Key]int64
		// wantRefused reports whether a cycle that began before is kept from charging.
		wantRefused bool
	}{
		"the first grant": {after: map[pool.Key]int64{all: 2}, wantRaised: map[pool.Key]int64{all: 2}},
		"the same":        {before: map[pool.Key]int64{all: 2}, after: map[pool.Key]int64{all: 2}},
		"more": {
			before: map[pool.Key]int64{all: 2}, after: map[pool.Key]int64{all: 5},
			wantRaised: map[pool.Key]int64{all: 3},
		},
		"less": {
			before: map[pool.Key]int64{all: 2}, after: map[pool.Key]int64{all: 1},
			wantRaised: map[pool.Key]int64{}, wantRefused: true,
		},
		"none any more": {
			before: map[pool.Key]int64{all: 2}, after: map[pool.Key]int64{}, wantRaised: map[pool.Key]int64{},
			wantRefused: true,
		},
		"more of one, less of one": {
			before: map[pool.Key]int64{all: 2, other: 2}, after: map[pool.Key]int64{all: 1, other: 3},
			wantRaised: map[pool.Key]int64{other: 1}, wantRefused: true,
		},
		"more of one, the same of one": {
			before: map[pool.Key]int64{all: 2, other: 2}, after: map[pool.Key]int64{all: 2, other: 3},
			wantRaised: map[pool.Key]int64{other: 1},
		},
		"a limit after none": {
			lifted: true, after: map[pool.Key]int64{all: 9}, wantRaised: map[pool.Key]int64{all: 9},
			wantRefused: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewGrants("a")
			g.set(tc.before)
			if tc.lifted {
				g.Lift()
			}
			began := g.Allowance()
			if diff := cmp.Diff(tc.wantRaised, g.set(tc.after)); diff != "" {
				t.Errorf("raised by (-want +got):\n%s", diff)
			}
			charged := false
			ok := g.ChargeWithin(began, func() { charged = true })
			if ok == tc.wantRefused || charged != ok {
				t.Errorf("within the allowance: %t, charged: %t, want it refused: %t", ok, charged, tc.wantRefused)
			}
			if !g.ChargeWithin(g.Allowance(), func() {}) {
				t.Error("a cycle that begins now is refused as well")
			}
		})
	}
}

func TestMine(t *testing.T) {
	lifted := NewGrants("a")
	lifted.Lift()
	for name, tc := range map[string]struct {
		grants  *Grants
		grantee string
		want    bool
	}{
		"no Scheduler":                  {grants: NewGrants(""), grantee: "b", want: true},
		"its own grant":                 {grants: NewGrants("a"), grantee: "a", want: true},
		"the grant of another one":      {grants: NewGrants("a"), grantee: "b"},
		"without a grant":               {grants: NewGrants("a")},
		"of another one, that has left": {grants: lifted, grantee: "b", want: true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.grants.Mine(pool.Charge{Grantee: tc.grantee}); got != tc.want {
				t.Errorf("it comes back: %t, want %t", got, tc.want)
			}
		})
	}
}

func TestActAs(t *testing.T) {
	unusable := licence(1, grant("a", "4", "", 1))
	unusable.Status.Allocatable[0].Quantity = mustParse("300m")
	for name, tc := range map[string]struct {
		self string
		of   *berthv1alpha1.ClusterResource
		want map[pool.Key]int64
	}{
		"nobody keeps to nothing":             {of: licence(1, grant("a", "4", "", 1))},
		"one keeps to its grant":              {self: "a", of: licence(1, grant("a", "4", "", 1), grant("b", "3", "", 1)), want: map[pool.Key]int64{all: 8}},
		"one gives out less while it shrinks": {self: "a", of: licence(1, grant("a", "4", "1", 1)), want: map[pool.Key]int64{all: 2}},
		"one without a grant has nothing":     {self: "a", of: licence(1, grant("b", "3", "", 1)), want: map[pool.Key]int64{}},
		"what nobody was granted is free":     {self: "a", of: licence(1), want: map[pool.Key]int64{all: math.MaxInt64}},
		"what cannot be used is not":          {self: "a", of: unusable, want: map[pool.Key]int64{}},
	} {
		t.Run(name, func(t *testing.T) {
			grants := NewGrants("")
			grants.ActAs(tc.self, resources(tc.of))
			if got := grants.Allowance(); got.Limited != (tc.self != "") || grants.Self() != tc.self {
				t.Errorf("%q is limited: %t", grants.Self(), got.Limited)
			} else if diff := cmp.Diff(tc.want, got.caps); got.Limited && diff != "" {
				t.Errorf("may give out (-want +got):\n%s", diff)
			}
		})
	}
}

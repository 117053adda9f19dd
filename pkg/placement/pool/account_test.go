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

// stray returns a pod that asks for licences on a node with labels.
func stray(amount string, nodeLabels map[string]string) pool.Stray {
	return pool.Stray{
		Requests: []pool.Request{{Resource: "licences", Quantity: resource.MustParse(amount)}}, Labels: nodeLabels,
	}
}

func TestStrays(t *testing.T) {
	rack := map[string]string{"rack": "1"}
	for name, tc := range map[string]struct {
		mode   berthv1alpha1.PoolMode
		before []pool.Charge
		strays []pool.Stray
		want   map[string]balance
	}{
		"one goes where Berth would have charged it": {
			strays: []pool.Stray{stray("2", rack)}, want: map[string]balance{"rack": {"2", 1}},
		},
		"one after the other": {
			strays: []pool.Stray{stray("2", rack), stray("2", rack)}, want: map[string]balance{"rack": {"2", 1}, "site": {"2", 1}},
		},
		"behind those that are charged already": {
			before: []pool.Charge{{Resource: "licences", Pool: "rack", Quantity: resource.MustParse("2")}},
			strays: []pool.Stray{stray("2", rack)}, want: map[string]balance{"rack": {"2", 1}, "site": {"2", 1}},
		},
		"too much is charged all the same": {
			strays: []pool.Stray{stray("100", rack)}, want: map[string]balance{"rack": {"100", 1}},
		},
		"all pools with mode AllOf": {
			mode: berthv1alpha1.AllOf, strays: []pool.Stray{stray("100", rack)},
			want: map[string]balance{"rack": {"100", 1}, "site": {"100", 1}},
		},
		"on a node that is gone it draws on the pool of all nodes": {
			strays: []pool.Stray{stray("2", nil)}, want: map[string]balance{"site": {"2", 1}},
		},
		"a fraction takes up a whole unit but is booked as it is": {
			strays: []pool.Stray{stray("1500m", rack), stray("2", rack)},
			want:   map[string]balance{"rack": {"1500m", 1}, "site": {"2", 1}},
		},
		"what is not declared is left out": {
			strays: []pool.Stray{{Requests: []pool.Request{{Resource: "unknown", Quantity: resource.MustParse("1")}}}},
			want:   map[string]balance{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := ready(t, declared(tc.mode, of("rack", "3", "rack", "1"), of("site", "5")))
			places := placed(r, map[string]map[string]string{"n1": rack, "n2": {"rack": "2"}})
			account := booked(tc.before)
			charges := account.ChargeStrays(tc.strays, func(name string) *pool.Places {
				if name == "licences" {
					return places
				}
				return nil
			})
			if diff := cmp.Diff(tc.want, balanceOf(account, "licences")); diff != "" {
				t.Errorf("balances (-want +got):\n%s", diff)
			}
			recount := booked(append(charges, tc.before)...)
			if diff := cmp.Diff(balanceOf(recount, "licences"), balanceOf(account, "licences")); diff != "" {
				t.Errorf("what was returned is not what was booked (-returned +booked):\n%s", diff)
			}
		})
	}
}

func TestFreeIsWhatIsLeft(t *testing.T) {
	object := declared("", of("a", "2"), of("b", "3"))
	half := resource.MustParse("500m")
	object.Spec.Unit = &half
	r := ready(t, object)
	account := booked([]pool.Charge{
		{Resource: "licences", Pool: "a", Quantity: resource.MustParse("500m")},
		{Resource: "licences", Pool: "b", Quantity: resource.MustParse("4")},
		{Resource: "other", Pool: "a", Quantity: resource.MustParse("1")},
	})
	if diff := cmp.Diff([]int64{3, -2}, account.Free(r)); diff != "" {
		t.Errorf("free units (-want +got):\n%s", diff)
	}
}

func TestWhatWasNeverBookedCannotBeTakenBack(t *testing.T) {
	account := pool.NewAccount()
	account.Remove([]pool.Charge{{Resource: "licences", Pool: "a", Quantity: resource.MustParse("1")}})
	if held, holders := account.Held("licences", "a"); !held.IsZero() || holders != 0 {
		t.Errorf("%d pods hold %s", holders, held.String())
	}
}

func TestWhatOneGivesBackLeavesWhatOthersOfItsSchedulerHold(t *testing.T) {
	one := []pool.Charge{{Resource: "licences", Pool: "a", Quantity: resource.MustParse("1"), Grantee: "east"}}
	account := booked(one, one)
	for _, want := range []int64{1, 0} {
		account.Remove(one)
		if held := account.HeldOf("east", "licences", "a"); held.Value() != want {
			t.Errorf("the pods of the Scheduler hold %s, want %d", held.String(), want)
		}
	}
}

func TestWhoHoldsWhat(t *testing.T) {
	charged := func(amount, grantee string) []pool.Charge {
		return []pool.Charge{{Resource: "licences", Pool: "a", Quantity: resource.MustParse(amount), Grantee: grantee}}
	}
	for name, tc := range map[string]struct {
		charged, returned [][]pool.Charge
		want              map[string]string
	}{
		"nobody": {},
		"Schedulers, and one pod of none": {
			charged: [][]pool.Charge{charged("1", "east"), charged("2", "east"), charged("4", "west"), charged("8", "")},
			want:    map[string]string{"east": "3", "west": "4", "": "8"},
		},
		"only Schedulers": {charged: [][]pool.Charge{charged("1", "east")}, want: map[string]string{"east": "1"}},
		"only none":       {charged: [][]pool.Charge{charged("1", "")}, want: map[string]string{"": "1"}},
		"a Scheduler whose last pod has gone is not named": {
			charged:  [][]pool.Charge{charged("1", "east"), charged("2", "west")},
			returned: [][]pool.Charge{charged("1", "east")}, want: map[string]string{"west": "2"},
		},
		"one whose other pod stays is": {
			charged:  [][]pool.Charge{charged("1", "east"), charged("2", "east")},
			returned: [][]pool.Charge{charged("1", "east")}, want: map[string]string{"east": "2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			account := booked(tc.charged...)
			for _, c := range tc.returned {
				account.Remove(c)
			}
			var got map[string]string
			for grantee, held := range account.ByGrantee("licences", "a") {
				if got == nil {
					got = map[string]string{}
				}
				got[grantee] = held.String()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("held by Scheduler (-want +got):\n%s", diff)
			}
		})
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package charges_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/charges"
	"berth.dev/berth/pkg/model/charges/chargetest"
	"berth.dev/berth/pkg/placement/pool"
)

func TestNodesComeAndGo(t *testing.T) {
	pools := worldOf(t, berthv1alpha1.AnyOf)
	chargedTo := func(node string) string {
		account := pool.NewAccount()
		stray := asking("p", "2", node, 0)
		return texts(pools.ChargeStrays(account, []*corev1.Pod{&stray}))[0]
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n3", Labels: map[string]string{"rack": "a"}}}
	pools.SetNode(node)
	pools.Rank()
	places := pools.Places("disk")
	if site, known := places.SiteOf("n3"); !known || places.Nodes(site) != 2 || places.Selected(0) != 2 {
		t.Errorf("a node came: known %t, %d of its site, %d in the rack", known, places.Nodes(site), places.Selected(0))
	}
	if got := chargedTo("n3"); got != "p rack=2" {
		t.Errorf("a pod there is charged %q", got)
	}
	pools.DropNode("n3")
	if got := chargedTo("n3"); got != "p all=2" {
		t.Errorf("a pod there is charged %q once the node has gone", got)
	}
}

func TestTheMostSpecificPoolComesFirstOncePoolsAreRanked(t *testing.T) {
	object := chargetest.Resource("disk", berthv1alpha1.AnyOf)
	object.Status.Allocatable = []berthv1alpha1.ClusterResourceQuantity{object.Spec.Capacity[1], object.Spec.Capacity[0]}
	usable, err := pool.NewResource(object)
	if err != nil {
		t.Fatal(err)
	}
	pools := charges.NewPools()
	pools.Use(func(yield func(*pool.Resource) bool) { yield(usable) })
	pools.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{"rack": "a"}}})
	pools.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n2"}})
	pools.Rank()
	places := pools.Places("disk")
	site, _ := places.SiteOf("n1")
	if diff := cmp.Diff([]int32{1, 0}, places.Pools(site)); diff != "" {
		t.Errorf("pools of a node (-want +got):\n%s", diff)
	}
}

func TestPublish(t *testing.T) {
	quantities := func(pairs ...string) []berthv1alpha1.ClusterResourceQuantity {
		var pools []berthv1alpha1.ClusterResourceQuantity
		for i := 0; i < len(pairs); i += 2 {
			pools = append(pools, berthv1alpha1.ClusterResourceQuantity{Name: pairs[i], Quantity: resource.MustParse(pairs[i+1])})
		}
		return pools
	}
	grantOf := func(poolName, quantity string) berthv1alpha1.PoolGrant {
		return berthv1alpha1.PoolGrant{Pool: poolName, Quantity: resource.MustParse(quantity)}
	}
	for name, tc := range map[string]struct {
		capacity, before []berthv1alpha1.ClusterResourceQuantity
		grants           []berthv1alpha1.PoolGrant
		held             string
		want             map[string]string
		wantError        string
	}{
		"what the spec says":                {capacity: quantities("a", "5", "b", "7"), before: quantities("a", "9"), want: map[string]string{"a": "5", "b": "7"}},
		"what another program has reported": {before: quantities("a", "9"), want: map[string]string{"a": "9"}},
		"nothing that prints as another":    {capacity: quantities("a", "1", "b", "10E"), before: quantities("a", "9"), wantError: "pool b: the quantity is too large"},
		"as much as is granted, until the grants have shrunk": {
			capacity: quantities("a", "5"), before: quantities("a", "9"), grants: []berthv1alpha1.PoolGrant{grantOf("a", "4"), grantOf("a", "4")},
			held: "6", want: map[string]string{"a": "9"},
		},
		"what the spec says once they have": {
			capacity: quantities("a", "5"), before: quantities("a", "9"), grants: []berthv1alpha1.PoolGrant{grantOf("a", "4"), grantOf("a", "1")},
			held: "0", want: map[string]string{"a": "5"},
		},
		"what the spec says once they are what pods hold": {
			capacity: quantities("a", "5"), before: quantities("a", "9"), grants: []berthv1alpha1.PoolGrant{grantOf("a", "4"), grantOf("a", "4")},
			held: "8", want: map[string]string{"a": "5"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			object := &berthv1alpha1.ClusterResource{Spec: berthv1alpha1.ClusterResourceSpec{Capacity: tc.capacity}}
			object.Status.Allocatable, object.Status.Grants = tc.before, tc.grants
			if tc.held != "" {
				object.Status.Allocated = []berthv1alpha1.PoolAllocation{{Name: "a", Quantity: resource.MustParse(tc.held)}}
			}
			published, err := charges.Publish(object)
			if (err == nil) != (tc.wantError == "") || err != nil && err.Error() != tc.wantError {
				t.Fatalf("error = %v, want %q", err, tc.wantError)
			}
			got := map[string]string{}
			for name, quantity := range charges.Quantities(published.Status.Allocatable) {
				got[name] = quantity.String()
			}
			if tc.want == nil {
				tc.want = map[string]string{}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("published (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.capacity, published.Status.Capacity); tc.wantError == "" && diff != "" {
				t.Errorf("capacity (-want +got):\n%s", diff)
			}
		})
	}
}

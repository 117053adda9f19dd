// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grants_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/charges"
	"berth.dev/berth/pkg/model/charges/chargetest"
	"berth.dev/berth/pkg/placement/pool"
)

// greedy wants more of every pool of a ClusterResource than there is.
func greedy(resourceName string) *berthv1alpha1.Spending {
	spending := &berthv1alpha1.Spending{}
	for _, name := range []string{"rack", "all"} {
		spending.Pools = append(spending.Pools, berthv1alpha1.PoolSpending{
			Resource: resourceName, Pool: name, Wanted: ptr.To(resource.MustParse("1000")), Least: ptr.To(resource.MustParse("1")),
		})
	}
	return spending
}

// A scheduler that wants everything is granted what its own pods hold and what no pod holds.
func TestGrantsGoByACountOfAllPods(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		objects := []client.Object{shard("self", greedy("disk")), shard("other", &berthv1alpha1.Spending{})}
		pools := charges.NewPools()
		for _, name := range chargetest.NodeNames() {
			if node := chargetest.Node(r, name); rapid.IntRange(0, 3).Draw(r, "exists") > 0 {
				objects = append(objects, node)
				pools.SetNode(node)
			}
		}
		mode := rapid.SampledFrom([]berthv1alpha1.PoolMode{berthv1alpha1.AnyOf, berthv1alpha1.AllOf}).Draw(r, "mode")
		object := chargetest.Resource("disk", mode)
		usable, err := pool.NewResource(object)
		if err != nil {
			r.Fatal(err)
		}
		pools.Use(func(yield func(*pool.Resource) bool) { yield(usable) })
		pools.Rank()
		var pods []corev1.Pod
		for i := range rapid.IntRange(0, 8).Draw(r, "pods") {
			pod := chargetest.Pod(r, i)
			pods, objects = append(pods, *pod.DeepCopy()), append(objects, pod)
		}
		tally, err := charges.Count(pods, func() (*charges.Pools, error) { return pools, nil })
		if err != nil {
			r.Fatal(err)
		}
		h := newHarness(t, append(objects, object)...)
		h.pass()
		got := map[string]int64{}
		if err := h.api.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			r.Fatal(err)
		}
		for _, g := range object.Status.Grants {
			got[g.Scheduler+" "+g.Pool] = g.Quantity.Value()
		}
		if diff := cmp.Diff(grantable(tally.Account, usable), got); diff != "" {
			r.Fatalf("grants (-counted +recorded):\n%s", diff)
		}
	})
}

// grantable is what a scheduler called self that wants everything is granted of each pool.
func grantable(account *pool.Account, usable *pool.Resource) map[string]int64 {
	granted := map[string]int64{}
	for _, p := range usable.Pools() {
		free, own := p.Allocatable, int64(0)
		for grantee, held := range account.ByGrantee(usable.Name(), p.Name) {
			units := pool.UnitsUp(held, usable.Unit())
			if free -= units; grantee == "self" {
				own = units
			}
		}
		if free > 0 {
			granted["self "+p.Name] = own + free
		}
	}
	return granted
}

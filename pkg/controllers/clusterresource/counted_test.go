// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/charges"
	"berth.dev/berth/pkg/model/charges/chargetest"
	"berth.dev/berth/pkg/placement/pool"
)

// The scheduler counts by the same package, and a test of its ledger holds it to that.
func TestTheStatusEqualsACountOfAllPods(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		pools := charges.NewPools()
		var objects []client.Object
		for _, name := range chargetest.NodeNames() {
			if node := chargetest.Node(r, name); rapid.IntRange(0, 3).Draw(r, "exists") > 0 {
				objects = append(objects, node)
				pools.SetNode(node)
			}
		}
		declared := map[string]*pool.Resource{}
		for _, name := range chargetest.Names() {
			mode := rapid.SampledFrom([]berthv1alpha1.PoolMode{berthv1alpha1.AnyOf, berthv1alpha1.AllOf}).Draw(r, "mode")
			object := chargetest.Resource(name, mode)
			objects = append(objects, object)
			usable, err := pool.NewResource(object)
			if err != nil {
				r.Fatal(err)
			}
			declared[name] = usable
		}
		pools.Use(func(yield func(*pool.Resource) bool) {
			for _, usable := range declared {
				if !yield(usable) {
					return
				}
			}
		})
		pools.Rank()
		var pods []corev1.Pod
		for i := range rapid.IntRange(0, 8).Draw(r, "pods") {
			pod := chargetest.Pod(r, i)
			pods, objects = append(pods, *pod.DeepCopy()), append(objects, pod)
		}
		want, err := charges.Count(pods, func() (*charges.Pools, error) { return pools, nil })
		if err != nil {
			r.Fatal(err)
		}
		h := newHarness(t, objects...)
		h.mustPass()
		for name, usable := range declared {
			status := &h.get(name).Status
			if diff := cmp.Diff(counted(want.Account, usable), balances(status)[:len(usable.Pools())]); diff != "" {
				r.Fatalf("pools of %s (-counted +status):\n%s", name, diff)
			}
		}
	})
}

// counted is what balances returns of the pools that are declared.
func counted(account *pool.Account, usable *pool.Resource) []string {
	lines := make([]string, len(usable.Pools()))
	for i, p := range usable.Pools() {
		held, holders := account.Held(usable.Name(), p.Name)
		free := *resource.NewQuantity(p.Allocatable, resource.DecimalSI)
		if free.Sub(held); free.Sign() < 0 {
			free = resource.Quantity{}
		}
		lines[i] = fmt.Sprintf("%s %s/%d %s", p.Name, held.String(), holders, free.String())
	}
	return lines
}

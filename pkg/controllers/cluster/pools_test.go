// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/cluster"
	"berth.dev/berth/pkg/controllers/internal/singleton"
)

// licences is a ClusterResource with a pool for each rack, given as NAME, UNITS.
func licences(name string, mode berthv1alpha1.PoolMode, pools ...any) *berthv1alpha1.ClusterResource {
	r := &berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: berthv1alpha1.ClusterResourceSpec{Mode: mode}}
	for i := 0; i < len(pools); i += 2 {
		p := berthv1alpha1.ClusterResourceQuantity{Name: fmt.Sprint("pool-", i), Quantity: *resource.NewQuantity(int64(pools[i+1].(int)), resource.DecimalSI)}
		if rack := pools[i].(string); rack != "" {
			p.NodeSelector = map[string]string{"rack": rack}
		}
		r.Status.Allocatable = append(r.Status.Allocatable, p)
	}
	return r
}

func rackNode(name, rack string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"rack": rack}}}
}

func TestClustersTellTheirPools(t *testing.T) {
	h := newHarness(t, newCluster("a", "n1", "n2"), newCluster("b", "n3"), newCluster("c"),
		rackNode("n1", "x"), rackNode("n2", "y"), rackNode("n3", "y"),
		licences("all", "", "", 7), licences("any-of", berthv1alpha1.AnyOf, "x", 5, "y", 3, "z", 9),
		licences("all-of", berthv1alpha1.AllOf, "", 6, "y", 2))
	r := cluster.PoolReconciler{Client: h.api, Topology: h.tracker, Clock: clocktesting.NewFakePassiveClock(time.Now())}
	if _, err := r.Reconcile(t.Context(), singleton.Key{}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a": "[{all 7} {all-of 2} {any-of 8}]", "b": "[{all 7} {all-of 2} {any-of 3}]", "c": "[]"} {
		if got := fmt.Sprint(h.get(name).Status.Pools); got != want {
			t.Errorf("cluster %s has %s, want %s", name, got, want)
		}
	}
}

// What there is changes at most every ten minutes, but for what there was not.
func TestPoolsChangeSlowly(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := newCluster("a", "n1")
	c.CreationTimestamp = metav1.NewTime(start.Add(-time.Hour))
	h := newHarness(t, c, rackNode("n1", "x"), licences("a", "", "", 4))
	clk := clocktesting.NewFakePassiveClock(start)
	r := cluster.PoolReconciler{Client: h.api, Topology: h.tracker, Clock: clk}
	step := func(at time.Duration, want string, wantAgain time.Duration) {
		t.Helper()
		clk.SetTime(start.Add(at))
		h.tracker.Invalidate()
		result, err := r.Reconcile(t.Context(), singleton.Key{})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(h.get("a").Status.Pools); got != want || result.RequeueAfter != wantAgain {
			t.Errorf("after %v the cluster has %s and is looked at after %v, want %s and %v", at, got, result.RequeueAfter, want, wantAgain)
		}
	}
	step(0, "[{a 4}]", 0)
	node := rackNode("n1", "x")
	if err := h.api.Delete(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	step(time.Minute, "[{a 4}]", 9*time.Minute)
	if err := h.api.Create(t.Context(), rackNode("n1", "x")); err != nil {
		t.Fatal(err)
	}
	step(2*time.Minute, "[{a 4}]", 0)
	if err := h.api.Create(t.Context(), licences("b", "", "x", 2)); err != nil {
		t.Fatal(err)
	}
	step(3*time.Minute, "[{a 4} {b 2}]", 0)
	if err := h.api.Delete(t.Context(), licences("a", "")); err != nil {
		t.Fatal(err)
	}
	step(4*time.Minute, "[{a 4} {b 2}]", 9*time.Minute)
	step(13*time.Minute, "[{b 2}]", 0)
}

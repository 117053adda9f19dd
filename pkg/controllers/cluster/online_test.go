// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"testing"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/cluster"
)

// observe sets the numbers of nodes, and returns the condition after a pass.
func (h *harness) observe(ready, all int32) *metav1.Condition {
	h.t.Helper()
	object := h.get("a")
	object.Status.ReadyNodeCount, object.Status.NodeCount = ready, all
	if all >= 0 {
		object.Status.ObservedGeneration = 1
	}
	if err := h.api.Status().Update(h.t.Context(), object); err != nil {
		h.t.Fatal(err)
	}
	r := &cluster.OnlineReconciler{Client: h.api, Shares: cluster.DefaultShares}
	if _, err := r.Reconcile(h.t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(object)}); err != nil {
		h.t.Fatal(err)
	}
	return apimeta.FindStatusCondition(h.get("a").Status.Conditions, berthv1alpha1.ClusterOnline)
}

func TestOnline(t *testing.T) {
	type count struct{ ready, all int32 }
	const yes, no = metav1.ConditionTrue, metav1.ConditionFalse
	tests := map[string]struct {
		counts []count
		want   []metav1.ConditionStatus
	}{
		"all nodes are ready":               {[]count{{4, 4}}, []metav1.ConditionStatus{yes}},
		"no node":                           {[]count{{0, 0}}, []metav1.ConditionStatus{no}},
		"no node is ready":                  {[]count{{0, 4}}, []metav1.ConditionStatus{no}},
		"half of them":                      {[]count{{2, 4}}, []metav1.ConditionStatus{yes}},
		"less than half are too few":        {[]count{{49, 100}}, []metav1.ConditionStatus{no}},
		"one bad node of many":              {[]count{{100, 100}, {99, 100}}, []metav1.ConditionStatus{yes, yes}},
		"it stays online down to a quarter": {[]count{{4, 4}, {1, 4}}, []metav1.ConditionStatus{yes, yes}},
		"it goes offline below a quarter":   {[]count{{4, 4}, {24, 100}}, []metav1.ConditionStatus{yes, no}},
		"it comes back at a half": {
			[]count{{4, 4}, {0, 4}, {1, 4}, {2, 4}, {1, 4}}, []metav1.ConditionStatus{yes, no, no, yes, yes},
		},
		"the last node goes": {[]count{{1, 1}, {0, 1}}, []metav1.ConditionStatus{yes, no}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
			for i, c := range tc.counts {
				if got := h.observe(c.ready, c.all); got == nil || got.Status != tc.want[i] {
					t.Errorf("with %d of %d nodes: %v, want %s", c.ready, c.all, got, tc.want[i])
				}
			}
		})
	}
}

func TestNothingIsWrittenWithoutNeed(t *testing.T) {
	h := newHarness(t, &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	if got := h.observe(0, -1); got != nil {
		t.Errorf("before the nodes are counted: %v", got)
	}
	for ready := int32(100); ready > 25; ready-- {
		h.observe(ready, 100)
	}
	if len(h.writes) != 1 {
		t.Errorf("%d writes while the cluster is online, want 1", len(h.writes))
	}
}

func TestShares(t *testing.T) {
	for shares, valid := range map[cluster.Shares]bool{
		cluster.DefaultShares: true, {Online: 1, Offline: 1}: true, {Online: 0.1}: true,
		{}: false, {Online: 1.1}: false, {Online: 0.5, Offline: 0.6}: false, {Online: 0.5, Offline: -0.1}: false,
	} {
		if err := shares.Validate(); (err == nil) != valid {
			t.Errorf("%+v: %v", shares, err)
		}
	}
}

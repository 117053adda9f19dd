// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package catalog_test

import (
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// sampled gives a Cluster a metric with a value, of the global ones or of a namespace.
func sampled(c *berthv1alpha1.Cluster, namespace string, value float64) *berthv1alpha1.Cluster {
	c.Spec.Metrics = []berthv1alpha1.MetricReference{{Name: "load", Namespace: namespace, Weight: 1}}
	c.Status.Metrics = []berthv1alpha1.MetricSample{{Name: "load", Namespace: namespace, Value: &value, Normalized: &value}}
	return c
}

func TestWhatConstraintsSeeReachesTheSnapshot(t *testing.T) {
	tests := map[string]func(*berthv1alpha1.Cluster){
		"a metric": func(c *berthv1alpha1.Cluster) { sampled(c, "", 0.7) },
		"a label":  func(c *berthv1alpha1.Cluster) { c.Labels = map[string]string{"location": "DE"} },
		"online": func(c *berthv1alpha1.Cluster) {
			c.Status.Conditions = []metav1.Condition{{Type: berthv1alpha1.ClusterOnline, Status: metav1.ConditionFalse}}
		},
	}
	for name, edit := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				other := cluster("hangzhou", 1, "n2")
				w := newWorld(t, nil, sampled(cluster("beijing", 1, "n1"), "", 0.5), other, policy("default", "web", 1, "beijing"))
				before := w.Snapshot()
				after := sampled(cluster("beijing", 1, "n1"), "", 0.5)
				after.ResourceVersion = "2"
				edit(after)
				w.send("clusters", watch.Modified, after)
				pass(time.Second)
				got := w.Snapshot()
				if got.Places()["beijing"] == before.Places()["beijing"] {
					t.Error("the place is as before")
				}
				if got.Places()["hangzhou"] != before.Places()["hangzhou"] {
					t.Error("the place of another Cluster is not as before")
				}
				if got.Membership != before.Membership || got.Matcher != before.Matcher {
					t.Error("the membership or the matcher was built anew")
				}
			})
		})
	}
}

func TestMetricsOfANamespaceCountThereOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, sampled(cluster("beijing", 1, "n1"), "shop", 0.5))
		place := w.Snapshot().Places()["beijing"]
		for namespace, want := range map[string]int{"shop": 1, "default": 0} {
			if got := len(place.Candidate(namespace).Metrics); got != want {
				t.Errorf("in namespace %s %d metrics count, want %d", namespace, got, want)
			}
		}
	})
}

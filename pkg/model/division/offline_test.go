// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package division_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/division"
	"berth.dev/berth/pkg/placement/bundle"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// online is a Cluster whose condition Online has a status since some minutes before noon.
func online(name string, status metav1.ConditionStatus, minutes int) berthv1alpha1.Cluster {
	return cluster(name, "store", func(c *berthv1alpha1.Cluster) {
		c.Status.Conditions = []metav1.Condition{{
			Type: berthv1alpha1.ClusterOnline, Status: status, LastTransitionTime: metav1.NewTime(noon.Add(-time.Duration(minutes) * time.Minute)),
		}}
	})
}

// leaving is a Subscription that has left Clusters. It leaves others after a time, and returns
// after half an hour.
func leaving(after berthv1alpha1.FailoverAfter, left ...string) *berthv1alpha1.Subscription {
	s := &berthv1alpha1.Subscription{}
	s.Spec.Failover = &berthv1alpha1.Failover{After: &after}
	for _, name := range left {
		s.Status.FailedOver = append(s.Status.FailedOver, berthv1alpha1.FailedOverCluster{Cluster: name, Time: metav1.NewTime(noon.Add(-time.Hour))})
	}
	return s
}

func TestFailover(t *testing.T) {
	const up, down, unsure = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown
	type state struct{ Away, Left bool }
	tests := map[string]struct {
		subscription *berthv1alpha1.Subscription
		clusters     []berthv1alpha1.Cluster
		want         map[string]state
		wantWaiting  map[string]time.Time
		wantAgain    time.Duration
	}{
		"nobody asked": {&berthv1alpha1.Subscription{}, []berthv1alpha1.Cluster{online("a", down, 60)}, map[string]state{"a": {}}, nil, 0},
		"online":       {leaving("5m"), []berthv1alpha1.Cluster{online("a", up, 60)}, map[string]state{"a": {}}, map[string]time.Time{}, 0},
		"never observed": {
			leaving("5m"), []berthv1alpha1.Cluster{cluster("a", "store")}, map[string]state{"a": {}}, map[string]time.Time{}, 0,
		},
		"offline for a while": {
			leaving("5m"), []berthv1alpha1.Cluster{online("a", down, 2)}, map[string]state{"a": {Away: true}},
			map[string]time.Time{"a": noon.Add(3 * time.Minute)}, 3 * time.Minute,
		},
		"nobody can tell for a while": {
			leaving("5m"), []berthv1alpha1.Cluster{online("a", unsure, 2)}, map[string]state{"a": {Away: true}},
			map[string]time.Time{"a": noon.Add(3 * time.Minute)}, 3 * time.Minute,
		},
		"offline for too long": {
			leaving("5m"), []berthv1alpha1.Cluster{online("a", down, 5)}, map[string]state{"a": {Away: true, Left: true}}, map[string]time.Time{}, 0,
		},
		"never to be left": {
			leaving(berthv1alpha1.FailoverNever), []berthv1alpha1.Cluster{online("a", down, 500)}, map[string]state{"a": {Away: true}},
			map[string]time.Time{"a": {}}, 0,
		},
		"left, and back for a while": {
			leaving("5m", "a"), []berthv1alpha1.Cluster{online("a", up, 10)}, map[string]state{"a": {Left: true}}, map[string]time.Time{}, 20 * time.Minute,
		},
		"offline until just before it is left": {
			leaving("2m0.000000001s"), []berthv1alpha1.Cluster{online("a", down, 2)}, map[string]state{"a": {Away: true}},
			map[string]time.Time{"a": noon.Add(1)}, 1,
		},
		"left, and back for long": {
			leaving("5m", "a"), []berthv1alpha1.Cluster{online("a", up, 30)}, map[string]state{"a": {}}, map[string]time.Time{}, 0,
		},
		"the next change is the first of several": {
			leaving("5m", "c"), []berthv1alpha1.Cluster{online("a", down, 1), online("b", down, 3), online("c", up, 10), online("d", up, 60)},
			map[string]state{"a": {Away: true}, "b": {Away: true}, "c": {Left: true}, "d": {}},
			map[string]time.Time{"a": noon.Add(4 * time.Minute), "b": noon.Add(2 * time.Minute)}, 2 * time.Minute,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var selected []bundle.SelectedCluster
			for i := range tc.clusters {
				selected = append(selected, bundle.SelectedCluster{Name: tc.clusters[i].Name})
			}
			waiting, again := division.Failover(tc.subscription, selected, places(tc.clusters...), noon)
			if diff := cmp.Diff(tc.wantWaiting, waiting); diff != "" || again != tc.wantAgain {
				t.Errorf("again after %v, want %v; those that are waited for (-want +got):\n%s", again, tc.wantAgain, diff)
			}
			got := map[string]state{}
			for _, c := range selected {
				got[c.Name] = state{c.Away, c.Left}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("clusters (-want +got):\n%s", diff)
			}
		})
	}
}

// A cluster was left when it was left first, however often it is said again.
func TestFailedOver(t *testing.T) {
	now := metav1.NewTime(noon)
	got := division.FailedOver(leaving("5m", "a", "c"), []string{"a", "b"}, now)
	want := []berthv1alpha1.FailedOverCluster{{Cluster: "a", Time: metav1.NewTime(noon.Add(-time.Hour))}, {Cluster: "b", Time: now}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	forgotten := leaving("5m", "a")
	forgotten.Spec.Failover = nil
	if got := division.FailedOver(forgotten, []string{"a"}, now); got != nil {
		t.Errorf("of a Subscription that says nothing of it: %v", got)
	}
}

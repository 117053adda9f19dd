// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"testing"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

func set(conditions *[]metav1.Condition, name string, status metav1.ConditionStatus) {
	apimeta.SetStatusCondition(conditions, metav1.Condition{Type: name, Status: status, Reason: "Test"})
}

func aDeletion() *metav1.Time {
	now := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	return &now
}

// What others write about Clusters all the time is no reason for a pass.
func TestWhichChangesOfAClusterMatter(t *testing.T) {
	type object = berthv1alpha1.Cluster
	tests := map[string]struct {
		change func(*object)
		want   bool
	}{
		"none":                        {change: func(*object) {}},
		"its spec":                    {change: func(c *object) { c.Generation++ }, want: true},
		"it is being deleted":         {change: func(c *object) { c.DeletionTimestamp = aDeletion() }, want: true},
		"its home":                    {change: func(c *object) { c.Status.HomeRevision++ }, want: true},
		"its finalizer is taken away": {change: func(c *object) { c.Finalizers = nil }, want: true},
		"it has twice as many nodes":  {change: func(c *object) { c.Status.NodeCount = 8 }, want: true},
		"it has a node more":          {change: func(c *object) { c.Status.NodeCount = 5 }},
		"its condition Bound": {
			change: func(c *object) { set(&c.Status.Conditions, berthv1alpha1.ClusterBound, metav1.ConditionFalse) }, want: true,
		},
		"another condition": {
			change: func(c *object) { set(&c.Status.Conditions, berthv1alpha1.ClusterOnline, metav1.ConditionFalse) },
		},
		"its labels": {change: func(c *object) { c.Labels = map[string]string{"team": "a"} }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before := &object{ObjectMeta: metav1.ObjectMeta{Name: "c", Generation: 1, Finalizers: []string{berthv1alpha1.ClusterFinalizer}}}
			before.Status.HomeRevision, before.Status.NodeCount = 1, 4
			set(&before.Status.Conditions, berthv1alpha1.ClusterBound, metav1.ConditionTrue)
			after := before.DeepCopy()
			tc.change(after)
			for _, way := range [][2]*object{{before, after}, {after, before}} {
				if got := clusterChanged(way[0], way[1]); got != tc.want {
					t.Errorf("it matters: %t, want %t", got, tc.want)
				}
			}
		})
	}
}

func TestWhichChangesOfASchedulerMatter(t *testing.T) {
	type object = berthv1alpha1.Scheduler
	tests := map[string]struct {
		change func(*object)
		want   bool
	}{
		"none":                        {change: func(*object) {}},
		"its spec":                    {change: func(s *object) { s.Generation++ }, want: true},
		"it is being deleted":         {change: func(s *object) { s.DeletionTimestamp = aDeletion() }, want: true},
		"its finalizer is taken away": {change: func(s *object) { s.Finalizers = nil }, want: true},
		"it has drained a cluster": {
			change: func(s *object) { s.Status.Drained = []berthv1alpha1.Drained{{Cluster: "c", Revision: 2}} }, want: true,
		},
		"it is given the commons": {change: func(s *object) { s.Status.Commons = &berthv1alpha1.Commons{Revision: 1} }, want: true},
		"it has died": {
			change: func(s *object) { set(&s.Status.Conditions, berthv1alpha1.SchedulerReady, metav1.ConditionFalse) }, want: true,
		},
		"it has stopped spending":     {change: func(s *object) { s.Status.Spending = &berthv1alpha1.Spending{Closed: true} }, want: true},
		"it has begun to spend":       {change: func(s *object) { s.Status.Spending = &berthv1alpha1.Spending{} }},
		"a condition of another kind": {change: func(s *object) { set(&s.Status.Conditions, "Another", metav1.ConditionTrue) }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before := &object{ObjectMeta: metav1.ObjectMeta{Name: "s", Generation: 1, Finalizers: []string{berthv1alpha1.SchedulerFinalizer}}}
			set(&before.Status.Conditions, berthv1alpha1.SchedulerReady, metav1.ConditionTrue)
			after := before.DeepCopy()
			tc.change(after)
			for _, way := range [][2]*object{{before, after}, {after, before}} {
				if got := schedulerChanged(way[0], way[1]); got != tc.want {
					t.Errorf("it matters: %t, want %t", got, tc.want)
				}
			}
		})
	}
}

// Places of different countries may have one name, and a place without a name is none.
func TestWhereAClusterLies(t *testing.T) {
	tests := map[string]struct {
		place                  *berthv1alpha1.GeoLocation
		wantProvince, wantCity string
	}{
		"it is not known": {},
		"a country":       {place: &berthv1alpha1.GeoLocation{Country: "DE"}},
		"a province":      {place: &berthv1alpha1.GeoLocation{Country: "DE", Province: "Hessen"}, wantProvince: "DE/Hessen"},
		"a city": {
			place:        &berthv1alpha1.GeoLocation{Country: "DE", Province: "Hessen", City: "Fulda"},
			wantProvince: "DE/Hessen", wantCity: "DE/Hessen/Fulda",
		},
		"a city by itself": {place: &berthv1alpha1.GeoLocation{Country: "SG", City: "Singapore"}, wantCity: "SG//Singapore"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := &berthv1alpha1.Cluster{}
			c.Spec.GeoLocation = tc.place
			if got := inputOf(c); got.Province != tc.wantProvince || got.City != tc.wantCity {
				t.Errorf("province %q, city %q; want %q, %q", got.Province, got.City, tc.wantProvince, tc.wantCity)
			}
		})
	}
}

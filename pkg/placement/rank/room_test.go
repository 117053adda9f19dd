// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rank_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/rank"
)

// TestRequire asks whether there is room in a, b and c, of which a is the best and d does not come
// into question.
func TestRequire(t *testing.T) {
	const full = "1 of 2 pods fit"
	lacks := func(name string) rank.Ranked {
		return rank.Ranked{Name: name, Rejections: []string{rank.WithoutRoom}, Problems: []string{full, "late"}}
	}
	has := func(name string, score float64) rank.Ranked {
		return rank.Ranked{Name: name, Eligible: true, Score: score, Problems: []string{"late"}}
	}
	offline := rank.Ranked{Name: "d", Rejections: []string{rank.Offline}}
	given := []rank.Ranked{has("a", 3), has("b", 2), has("c", 1), offline}
	tests := map[string]struct {
		full      []string
		further   string
		anyway    bool
		want      []rank.Ranked
		wantAsked []string
	}{
		"the best one has room": {want: given, wantAsked: []string{"a"}},
		"the second one has room": {
			full: []string{"a"}, want: []rank.Ranked{has("b", 2), has("c", 1), lacks("a"), offline}, wantAsked: []string{"a", "b"},
		},
		"one more is asked for": {
			full: []string{"c"}, further: "c", want: []rank.Ranked{has("a", 3), has("b", 2), lacks("c"), offline},
			wantAsked: []string{"a", "c"},
		},
		"none has room": {
			full: []string{"a", "b", "c"}, want: []rank.Ranked{lacks("a"), lacks("b"), lacks("c"), offline},
			wantAsked: []string{"a", "b", "c"},
		},
		"none has room, and one is chosen all the same": {
			full: []string{"a", "b", "c"}, anyway: true, wantAsked: []string{"a", "b", "c"},
			want: []rank.Ranked{
				{Name: "a", Eligible: true, Score: 3, Problems: []string{full, "late"}},
				{Name: "b", Eligible: true, Score: 2, Problems: []string{full, "late"}},
				{Name: "c", Eligible: true, Score: 1, Problems: []string{full, "late"}}, offline,
			},
		},
		"one has room, and none is chosen without": {
			full: []string{"a", "b"}, anyway: true, want: []rank.Ranked{has("c", 1), lacks("a"), lacks("b"), offline},
			wantAsked: []string{"a", "b", "c"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var asked []string
			before := slices.Clone(given)
			got := (&rank.Query{UID: "u"}).Require(rank.Room{
				Lacks: func(place string) string {
					asked = append(asked, place)
					if slices.Contains(tc.full, place) {
						return full
					}
					return ""
				},
				Further: func(place string) bool { return place == tc.further }, Anyway: tc.anyway,
			}, before)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("results (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantAsked, asked); diff != "" {
				t.Errorf("asked are (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(given, before); diff != "" {
				t.Errorf("what was given has changed\n%s", diff)
			}
		})
	}
}

func TestUnobserved(t *testing.T) {
	online := []metav1.Condition{{Type: berthv1alpha1.ClusterOnline, Status: metav1.ConditionTrue}}
	load := []berthv1alpha1.MetricReference{{Name: "load"}, {Name: "load", Namespace: "team"}, {Name: "load", Namespace: "other"}}
	tests := map[string]struct {
		label   string
		cluster berthv1alpha1.Cluster
		want    []string
	}{
		"nobody has looked at the nodes":  {want: []string{"berlin: its nodes"}},
		"it does not come into question":  {label: "location"},
		"somebody has":                    {cluster: berthv1alpha1.Cluster{Status: berthv1alpha1.ClusterStatus{Conditions: online}}},
		"there are none until it is made": {cluster: berthv1alpha1.Cluster{Spec: berthv1alpha1.ClusterSpec{Provision: &berthv1alpha1.ClusterProvision{}}}},
		"nobody has looked at its metrics": {
			cluster: berthv1alpha1.Cluster{
				Spec: berthv1alpha1.ClusterSpec{Metrics: load}, Status: berthv1alpha1.ClusterStatus{Conditions: online},
			},
			want: []string{"berlin: metric load, metric load"},
		},
		"it takes nothing new": {cluster: berthv1alpha1.Cluster{Spec: berthv1alpha1.ClusterSpec{Unschedulable: true}}},
		"somebody has looked at its metrics": {cluster: berthv1alpha1.Cluster{
			Spec: berthv1alpha1.ClusterSpec{Metrics: load},
			Status: berthv1alpha1.ClusterStatus{
				Conditions: online, Metrics: []berthv1alpha1.MetricSample{{Name: "load"}, {Name: "load", Namespace: "team"}},
			},
		}},
		"somebody has looked at one of its metrics": {
			cluster: berthv1alpha1.Cluster{
				Spec: berthv1alpha1.ClusterSpec{Metrics: load[:2]},
				Status: berthv1alpha1.ClusterStatus{
					Conditions: online, Metrics: []berthv1alpha1.MetricSample{{Name: "load", Namespace: "team"}},
				},
			},
			want: []string{"berlin: metric load"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			query := &rank.Query{}
			if tc.label != "" {
				query.Constraints.Labels = labels(t, tc.label+" is DE")
			}
			tc.cluster.Name = "berlin"
			got := query.Unobserved([]rank.Candidate{rank.ClusterCandidate(&tc.cluster, "team")})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("unknown are (-want +got)\n%s", diff)
			}
		})
	}
}

func TestApplicationStickiness(t *testing.T) {
	general := rank.Stickiness{Value: 2, Weight: 3}
	tests := map[string]struct {
		own  *berthv1alpha1.ApplicationStickiness
		want rank.Stickiness
	}{
		"none":   {want: general},
		"empty":  {own: &berthv1alpha1.ApplicationStickiness{}, want: general},
		"weight": {own: &berthv1alpha1.ApplicationStickiness{Weight: new(0.5)}, want: rank.Stickiness{Value: 2, Weight: 0.5}},
		"value":  {own: &berthv1alpha1.ApplicationStickiness{Value: new(0.5)}, want: rank.Stickiness{Value: 0.5, Weight: 3}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			app := &berthv1alpha1.Application{Spec: berthv1alpha1.ApplicationSpec{Stickiness: tc.own}}
			if diff := cmp.Diff(&tc.want, rank.ApplicationQuery(app, rank.Constraints{}, general).Stickiness); diff != "" {
				t.Errorf("stickiness (-want +got)\n%s", diff)
			}
		})
	}
}

func TestCloudCandidate(t *testing.T) {
	meta := &metav1.ObjectMeta{Namespace: "team", Labels: map[string]string{"location": "DE"}}
	references := []berthv1alpha1.MetricReference{{Name: "load", Namespace: "other"}}
	want := rank.Candidate{
		Name: "cloud", Labels: meta.Labels, Remarks: []string{"metric load: it is of namespace other and does not count in team"},
	}
	if diff := cmp.Diff(want, rank.CloudCandidate("cloud", meta, references, nil)); diff != "" {
		t.Errorf("candidate (-want +got)\n%s", diff)
	}
	meta.DeletionTimestamp, want.Unavailable = &metav1.Time{}, rank.BeingDeleted
	if diff := cmp.Diff(want, rank.CloudCandidate("cloud", meta, references, nil)); diff != "" {
		t.Errorf("candidate that is being deleted (-want +got)\n%s", diff)
	}
}

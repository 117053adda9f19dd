// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rank_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/constraint"
	"berth.dev/berth/pkg/placement/rank"
)

func TestParseConstraints(t *testing.T) {
	tests := map[string]struct {
		constraints berthv1alpha1.ClusterConstraints
		want        int // of all kinds together
		wantErr     string
	}{
		"none": {},
		"all kinds": {constraints: berthv1alpha1.ClusterConstraints{
			ClusterLabels: []string{"location is DE"}, ClusterMetrics: []string{"load<5"}, CustomResources: []string{"a.b"},
		}, want: 3},
		"a wrong label constraint": {
			constraints: berthv1alpha1.ClusterConstraints{ClusterLabels: []string{"a is b", "location in DE"}},
			wantErr:     `clusterLabels[1]: constraint "location in DE": column 13: `,
		},
		"a wrong metric constraint": {
			constraints: berthv1alpha1.ClusterConstraints{ClusterMetrics: []string{"load < high"}},
			wantErr:     `clusterMetrics[0]: constraint "load < high": column 8: `,
		},
	}
	for name, tc := range tests {
		parsed, err := rank.ParseConstraints(&tc.constraints)
		if got := len(parsed.Labels) + len(parsed.Metrics) + len(parsed.CustomResources); tc.wantErr == "" && got != tc.want {
			t.Errorf("%s: %d constraints are read, want %d", name, got, tc.want)
		}
		if tc.wantErr == "" && err != nil || tc.wantErr != "" && (err == nil || !strings.HasPrefix(err.Error(), tc.wantErr)) {
			t.Errorf("%s: got %v, want %q", name, err, tc.wantErr)
		}
	}
}

func TestClusterCandidateAvailability(t *testing.T) {
	online := func(status metav1.ConditionStatus) []metav1.Condition {
		return []metav1.Condition{{Type: berthv1alpha1.ClusterOnline, Status: status}}
	}
	now := metav1.NewTime(time.Unix(0, 0))
	tests := map[string]struct {
		cluster berthv1alpha1.Cluster
		want    string
	}{
		"nothing is observed yet": {},
		"online":                  {cluster: berthv1alpha1.Cluster{Status: berthv1alpha1.ClusterStatus{Conditions: online("True")}}},
		"offline": {
			cluster: berthv1alpha1.Cluster{Status: berthv1alpha1.ClusterStatus{Conditions: online("False")}}, want: rank.Offline,
		},
		"unknown": {
			cluster: berthv1alpha1.Cluster{Status: berthv1alpha1.ClusterStatus{Conditions: online("Unknown")}}, want: rank.Offline,
		},
		"still to be made": {
			cluster: berthv1alpha1.Cluster{Spec: berthv1alpha1.ClusterSpec{Provision: &berthv1alpha1.ClusterProvision{}}},
			want:    rank.Offline,
		},
		"made": {cluster: berthv1alpha1.Cluster{
			Spec:   berthv1alpha1.ClusterSpec{Provision: &berthv1alpha1.ClusterProvision{}},
			Status: berthv1alpha1.ClusterStatus{Conditions: online("True")},
		}},
		"cordoned": {cluster: berthv1alpha1.Cluster{
			Spec: berthv1alpha1.ClusterSpec{Unschedulable: true}, Status: berthv1alpha1.ClusterStatus{Conditions: online("True")},
		}},
		"drained": {
			cluster: berthv1alpha1.Cluster{
				Spec:   berthv1alpha1.ClusterSpec{Unschedulable: true, Drain: true},
				Status: berthv1alpha1.ClusterStatus{Conditions: online("True")},
			},
			want: rank.Drained,
		},
		"being deleted": {
			cluster: berthv1alpha1.Cluster{
				ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now},
				Status:     berthv1alpha1.ClusterStatus{Conditions: online("True")},
			},
			want: rank.BeingDeleted,
		},
	}
	for name, tc := range tests {
		if got := rank.ClusterCandidate(&tc.cluster, "default").Unavailable; got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}

func TestClusterCandidateMetrics(t *testing.T) {
	cluster := &berthv1alpha1.Cluster{
		Spec: berthv1alpha1.ClusterSpec{Metrics: []berthv1alpha1.MetricReference{
			{Name: "load", Weight: 1}, {Name: "load", Namespace: "team", Weight: 2}, {Name: "load", Namespace: "other", Weight: 3},
			{Name: "old", Weight: 4}, {Name: "new", Weight: 5}, {Name: "raw", Weight: 6},
			{Name: "site", Weight: 7}, {Name: "zone", Weight: 8},
		}},
		Status: berthv1alpha1.ClusterStatus{Metrics: []berthv1alpha1.MetricSample{
			{Name: "load", Namespace: "team", Value: new(6.0), Normalized: new(0.6)},
			{Name: "load", Value: new(5.0), Normalized: new(0.5), Reason: "Timeout"},
			{Name: "old", Value: new(1.0), Normalized: new(0.1), Stale: true, Reason: "Unreachable"},
			{Name: "new", Reason: "UnknownMetric"}, {Name: "raw", Value: new(7.0), Reason: "NotAllowed"},
			{Name: "site", Reason: "MissingLabel"}, {Name: "zone", Value: new(8.0), Normalized: new(0.8), Stale: true, Reason: "MissingLabel"},
		}},
	}
	got := rank.ClusterCandidate(cluster, "team")
	want := []rank.Metric{
		{Name: "load", Weight: 1, Value: 5, Normalized: 0.5, Freshness: rank.Fresh, Problem: "Timeout"},
		{Name: "load", Weight: 2, Value: 6, Normalized: 0.6, Freshness: rank.Fresh},
		{Name: "old", Weight: 4, Value: 1, Normalized: 0.1, Freshness: rank.Stale, Problem: "Unreachable"},
		{Name: "new", Weight: 5, Problem: "UnknownMetric"},
		{Name: "raw", Weight: 6, Problem: "NotAllowed"},
		{Name: "site", Weight: 7, Freshness: rank.Absent, Problem: "MissingLabel"},
		{Name: "zone", Weight: 8, Value: 8, Normalized: 0.8, Freshness: rank.Stale, Problem: "MissingLabel"},
	}
	if diff := cmp.Diff(want, got.Metrics); diff != "" {
		t.Errorf("metrics (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"metric load: it is of namespace other and does not count in team"}, got.Remarks); diff != "" {
		t.Errorf("remarks (-want +got)\n%s", diff)
	}
}

func TestClusterCandidateNumbers(t *testing.T) {
	cluster := &berthv1alpha1.Cluster{Spec: berthv1alpha1.ClusterSpec{ClusterProfile: berthv1alpha1.ClusterProfile{
		ServerPrice: 10, Flavors: []berthv1alpha1.Flavor{{FlavorID: "large", TotalCapacity: 0}},
		Storage: []berthv1alpha1.Storage{{TypeID: "ssd", StorageCapacity: 100}},
	}}}
	tests := map[string]bool{
		"serverPrice <= 10": true, "serverPrice < 10": false, "flavor.large = 0": true, "flavor.small >= 0": false,
		"storage.ssd > 99": true, "eipCapacity < 5": false, "cpuCapacity != 1": false, "memCapacity >= 0": false,
	}
	for text, want := range tests {
		request := &rank.Query{Constraints: rank.Constraints{Metrics: metrics(t, text)}}
		result := rank.Rank(request, []rank.Candidate{rank.ClusterCandidate(cluster, "default")})[0]
		if result.Eligible != want {
			t.Errorf("%s: eligible is %t", text, result.Eligible)
		}
	}
}

func TestClusterCandidateParts(t *testing.T) {
	cluster := &berthv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"tier": "store", "region.region": "a label", "operator.operator": "x"}},
		Spec: berthv1alpha1.ClusterSpec{ClusterProfile: berthv1alpha1.ClusterProfile{
			GeoLocation: &berthv1alpha1.GeoLocation{City: "Bellevue", Province: "Washington", Area: "West", Country: "US"},
			Region:      &berthv1alpha1.Region{Region: "us-west", AvailabilityZone: "us-west-1"},
			Operator:    &berthv1alpha1.Operator{},
		}},
	}
	tests := map[string]bool{
		"geoLocation.country is US": true, "geoLocation.country is DE": false, "geoLocation.city in (Bellevue, Seattle)": true,
		"geoLocation.province = Washington": true, "geoLocation.area != West": false, "region.region is us-west": true,
		"region.availabilityZone is us-west-1": true, "operator.operator is x": true, "geoLocation.planet is earth": false,
		"tier is store": true,
	}
	for text, want := range tests {
		parsed, err := constraint.Parse(constraint.Label, text)
		if err != nil {
			t.Fatal(err)
		}
		candidate := rank.ClusterCandidate(cluster, "default")
		if got := (rank.Constraints{Labels: []*constraint.Constraint{parsed}}).Admits(&candidate); got != want {
			t.Errorf("%s: admitted %t, want %t", text, got, want)
		}
	}
	if got := cluster.Labels["region.region"]; got != "a label" {
		t.Errorf("the label of the cluster was changed to %q", got)
	}
}

func TestShown(t *testing.T) {
	results := []rank.Ranked{
		{Name: "a", Eligible: true, Score: 0.5, Parts: []rank.Part{{Name: "green", Weight: 1, Value: 0.5}}, Problems: []string{"late"}},
		{Name: "b", Rejections: []string{"offline"}, Problems: []string{"late"}},
	}
	want := []berthv1alpha1.RankedPlace{
		{Name: "a", Eligible: true, Score: 0.5, Parts: []berthv1alpha1.ScorePart{{Name: "green", Weight: 1, Value: 0.5}}, Reasons: []string{"late"}},
		{Name: "b", Reasons: []string{"offline", "late"}},
	}
	if diff := cmp.Diff(want, rank.Shown(results)); diff != "" {
		t.Errorf("places mismatch (-want +got):\n%s", diff)
	}
	if got := len(rank.Shown(make([]rank.Ranked, 30))); got != 20 {
		t.Errorf("%d of 30 places are shown, want 20", got)
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate_test

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/failover"
	"berth.dev/berth/pkg/placement/migrate"
	"berth.dev/berth/pkg/placement/rank"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// rule leaves a cluster after 5 minutes and returns after 30.
func rule(after berthv1alpha1.FailoverAfter) failover.Rule {
	return failover.Of(&berthv1alpha1.Failover{After: &after})
}

func TestOffline(t *testing.T) {
	tests := map[string]struct {
		after      berthv1alpha1.FailoverAfter
		current    *rank.Candidate
		rejections []string
		since      time.Duration
		wantStays  bool
		wantUntil  time.Time
	}{
		"there is none":                  {after: "5m"},
		"it is online":                   {after: "5m", current: &rank.Candidate{}},
		"it is drained":                  {after: "5m", current: &rank.Candidate{Unavailable: rank.Drained}, rejections: []string{rank.Drained}},
		"it has just gone offline":       {after: "5m", current: &rank.Candidate{Unavailable: rank.Offline}, rejections: []string{rank.Offline}, wantStays: true, wantUntil: noon.Add(5 * time.Minute)},
		"it has been for long":           {after: "5m", current: &rank.Candidate{Unavailable: rank.Offline}, rejections: []string{rank.Offline}, since: 5 * time.Minute},
		"it is never left":               {after: "Never", current: &rank.Candidate{Unavailable: rank.Offline}, rejections: []string{rank.Offline}, since: time.Hour, wantStays: true},
		"it would not suit if it worked": {after: "5m", current: &rank.Candidate{Unavailable: rank.Offline}, rejections: []string{rank.Offline, "without label x"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.current != nil {
				tc.current.Name, tc.current.Since = "berlin", noon.Add(-tc.since)
			}
			stays, until := migrate.Offline(rule(tc.after), tc.current, []rank.Ranked{{Name: "madrid"}, {Name: "berlin", Rejections: tc.rejections}}, noon)
			if stays != tc.wantStays || !until.Equal(tc.wantUntil) {
				t.Errorf("stays %v until %v, want %v until %v", stays, until, tc.wantStays, tc.wantUntil)
			}
		})
	}
}

func TestRankAfterAFailover(t *testing.T) {
	left := []berthv1alpha1.FailedOverCluster{{Cluster: "berlin"}, {Cluster: "rome"}}
	tests := map[string]struct {
		current string
		madrid  string // why it is unavailable
		since   time.Duration
		want    []string // those that are eligible
	}{
		"it has not been back for long":       {current: "madrid", since: 29 * time.Minute, want: []string{"madrid"}},
		"it has been back for long":           {current: "madrid", since: 30 * time.Minute, want: []string{"madrid", "berlin", "rome"}},
		"the other does not suit":             {current: "madrid", madrid: rank.Offline, want: []string{"berlin", "rome"}},
		"the application is there":            {current: "berlin", want: []string{"berlin", "madrid"}},
		"the application is nowhere any more": {current: "paris", want: []string{"madrid", "berlin", "rome"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			since := noon.Add(-tc.since)
			candidates := []rank.Candidate{{Name: "madrid", Unavailable: tc.madrid}, {Name: "berlin", Since: since}, {Name: "rome", Since: since}}
			var eligible []string
			for _, result := range migrate.Rank(&rank.Query{Current: tc.current}, candidates, rule("5m"), left, noon) {
				if result.Eligible {
					eligible = append(eligible, result.Name)
				}
			}
			slices.Sort(eligible)
			slices.Sort(tc.want)
			if !slices.Equal(eligible, tc.want) {
				t.Errorf("eligible are %v, want %v", eligible, tc.want)
			}
			if len(candidates[1].Remarks) > 0 || candidates[1].Unavailable != "" {
				t.Error("the candidates have changed")
			}
		})
	}
}

func TestStillLeft(t *testing.T) {
	left := []berthv1alpha1.FailedOverCluster{{Cluster: "gone"}, {Cluster: "offline"}, {Cluster: "fresh"}, {Cluster: "healthy"}, {Cluster: "current"}}
	candidates := []rank.Candidate{
		{Name: "offline", Unavailable: rank.Offline}, {Name: "fresh", Since: noon.Add(-time.Minute)},
		{Name: "healthy", Since: noon.Add(-time.Hour)}, {Name: "current", Since: noon},
	}
	var still []string
	for _, l := range migrate.StillLeft(left, rule("5m"), "current", candidates, noon) {
		still = append(still, l.Cluster)
	}
	if want := []string{"offline", "fresh"}; !slices.Equal(still, want) {
		t.Errorf("still left are %v, want %v", still, want)
	}
}

func TestWithoutFailed(t *testing.T) {
	out := []berthv1alpha1.LeftOutCluster{
		{Cluster: "berlin", Until: metav1.NewTime(noon.Add(time.Minute)), Failures: 1, Message: "no room"},
		{Cluster: "madrid", Until: metav1.NewTime(noon)}, {Cluster: "rome", Until: metav1.NewTime(noon.Add(time.Minute))},
	}
	candidates := []rank.Candidate{{Name: "berlin"}, {Name: "madrid"}, {Name: "rome"}, {Name: "paris"}}
	left := migrate.WithoutFailed(candidates, out, "rome", noon)
	if candidates[0].Unavailable != "" || candidates[0].Remarks != nil {
		t.Error("the candidates have changed")
	}
	for _, c := range left {
		if want := c.Name == "berlin"; (c.Unavailable == rank.LeftOut) != want {
			t.Errorf("%s is unavailable for %q", c.Name, c.Unavailable)
		}
	}
	if want := []string{"until 2026-01-01T12:01:00Z after 1 failed move: no room"}; !slices.Equal(left[0].Remarks, want) {
		t.Errorf("remarks are %q, want %q", left[0].Remarks, want)
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/migrate"
	"berth.dev/berth/pkg/placement/rank"
)

func TestDecide(t *testing.T) {
	at := metav1.NewTime(noon)
	tests := map[string]struct {
		results []rank.Ranked
		from    string
		want    berthv1alpha1.ApplicationDecision
	}{
		"the first": {
			results: []rank.Ranked{{Name: "madrid", Eligible: true, Score: 0.5}, {Name: "berlin", Eligible: true}},
			want:    berthv1alpha1.ApplicationDecision{Time: at, To: "madrid", Reason: "FirstChoice", Score: new(0.5)},
		},
		"a better one": {
			results: []rank.Ranked{{Name: "madrid", Eligible: true, Score: 0.5}, {Name: "berlin", Eligible: true, Score: 0.25}}, from: "berlin",
			want: berthv1alpha1.ApplicationDecision{Time: at, From: "berlin", To: "madrid", Reason: "HigherScore", Score: new(0.5), FromScore: new(0.25)},
		},
		"the old one does not suit": {
			results: []rank.Ranked{{Name: "madrid", Eligible: true}, {Name: "berlin", Rejections: []string{"offline"}, Problems: []string{"x"}}}, from: "berlin",
			want: berthv1alpha1.ApplicationDecision{
				Time: at, From: "berlin", To: "madrid", Reason: "NotEligible", Score: new(0.0), Message: "cluster berlin: offline, x",
			},
		},
		"the old one is gone": {
			results: []rank.Ranked{{Name: "madrid", Eligible: true}}, from: "berlin",
			want: berthv1alpha1.ApplicationDecision{
				Time: at, From: "berlin", To: "madrid", Reason: "NotEligible", Score: new(0.0), Message: "there is no cluster berlin",
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, migrate.Decide(tc.results, tc.from, "madrid", noon)); diff != "" {
				t.Errorf("decision mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTenDecisionsAreRemembered(t *testing.T) {
	var decisions []berthv1alpha1.ApplicationDecision
	for i := range 12 {
		decisions = migrate.Remember(decisions, migrate.GaveUp("madrid", "berlin", strings.Repeat("x", 2000), noon.Add(time.Duration(i)*time.Minute)))
	}
	if len(decisions) != 10 || !decisions[0].Time.Time.Equal(noon.Add(11*time.Minute)) || len(decisions[0].Message) > 1024 {
		t.Errorf("%d are remembered, the newest of %v", len(decisions), decisions[0].Time)
	}
}

func TestReviews(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		every := time.Duration(rapid.Int64Range(1, 86_400).Draw(t, "every")) * time.Second
		now := noon.Add(time.Duration(rapid.Int64Range(-1e6, 1e12).Draw(t, "after")) * time.Microsecond)
		last, next := migrate.LastReview(noon, every, now), migrate.NextReview(noon, every, now)
		switch {
		case last.Before(noon) || next.Sub(last) != every || last.Sub(noon)%every != 0:
			t.Errorf("reviews at %v and %v", last, next)
		case now.Before(last) && !last.Equal(noon), !now.Before(next):
			t.Errorf("now is %v, and reviews are at %v and %v", now, last, next)
		}
	})
}

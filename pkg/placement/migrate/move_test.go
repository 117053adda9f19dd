// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/migrate"
)

func TestReview(t *testing.T) {
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	move := &berthv1alpha1.ApplicationMoveStatus{
		StartTime: metav1.NewTime(start), Deadline: metav1.NewTime(start.Add(10 * time.Minute)),
	}
	steps := func(steps ...berthv1alpha1.MoveStep) []berthv1alpha1.MoveStep { return steps }
	tests := map[string]struct {
		after, unschedulable time.Duration // since the start; 0 for never
		steps                []berthv1alpha1.MoveStep
		stopFirst            bool
		want                 migrate.Verdict
	}{
		"nothing has pods": {want: migrate.Verdict{Step: "Done"}},
		"all have moved":   {after: time.Hour, steps: steps("Done", "Done"), want: migrate.Verdict{Step: "Done"}},
		"the last counts": {
			after: time.Minute, steps: steps("Shrink", "Start", "Available"), want: migrate.Verdict{Step: "Start", Again: 9 * time.Minute},
		},
		"the deadline is over": {
			after: 10 * time.Minute, steps: steps("Available"),
			want: migrate.Verdict{Step: "Available", GiveUp: "DeadlineExceeded"},
		},
		"the deadline is over and the old ones go": {after: time.Hour, steps: steps("Shrink"), want: migrate.Verdict{Step: "Shrink"}},
		"the deadline is over and the old ones had to go first": {
			after: time.Hour, steps: steps("Shrink"), stopFirst: true,
			want: migrate.Verdict{Step: "Shrink", GiveUp: "DeadlineExceeded"},
		},
		"a pod has no node yet": {
			after: time.Minute, unschedulable: 50 * time.Second, steps: steps("Start"),
			want: migrate.Verdict{Step: "Start", Again: 20 * time.Second},
		},
		"a pod gets no node": {
			after: time.Minute, unschedulable: 30 * time.Second, steps: steps("Start"),
			want: migrate.Verdict{Step: "Start", GiveUp: "Unschedulable", Again: time.Millisecond},
		},
		"a pod had none before": {
			after: 10 * time.Second, unschedulable: -time.Hour, steps: steps("Start"),
			want: migrate.Verdict{Step: "Start", Again: 20 * time.Second},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			facts := &migrate.Facts{Now: start.Add(tc.after), Stages: tc.steps, StopFirst: tc.stopFirst}
			if tc.unschedulable != 0 {
				facts.Unschedulable = start.Add(tc.unschedulable)
			}
			if diff := cmp.Diff(tc.want, migrate.Review(move, facts)); diff != "" {
				t.Errorf("verdict mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLeaveOut(t *testing.T) {
	for failures, want := range map[int32]time.Duration{
		1: 5 * time.Minute, 2: 10 * time.Minute, 3: 20 * time.Minute, 9: 1280 * time.Minute, 10: 24 * time.Hour, 1 << 30: 24 * time.Hour,
	} {
		if got := migrate.LeaveOut(failures); got != want {
			t.Errorf("LeaveOut(%d) = %v, want %v", failures, got, want)
		}
	}
}

func TestPause(t *testing.T) {
	tests := map[string]struct{ under, want time.Duration }{
		"at the beginning": {0, 2 * time.Second},
		"before it began":  {-time.Hour, 2 * time.Second},
		"after a minute":   {time.Minute, 6 * time.Second},
		"after a day":      {24 * time.Hour, 30 * time.Second},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := migrate.Pause(tc.under); got != tc.want {
				t.Errorf("pause after %v is %v, want %v", tc.under, got, tc.want)
			}
		})
	}
}

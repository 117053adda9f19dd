// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package failover_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/failover"
)

func TestRule(t *testing.T) {
	after := func(text berthv1alpha1.FailoverAfter) *berthv1alpha1.Failover {
		return &berthv1alpha1.Failover{After: &text}
	}
	tests := map[string]struct {
		spec        *berthv1alpha1.Failover
		wantAfter   time.Duration
		wantNever   bool
		wantReturns time.Duration
	}{
		"none":                {},
		"all defaults":        {spec: &berthv1alpha1.Failover{}, wantAfter: 5 * time.Minute, wantReturns: 30 * time.Minute},
		"never":               {spec: after("Never"), wantAfter: 5 * time.Minute, wantNever: true, wantReturns: 30 * time.Minute},
		"at once":             {spec: after("0s"), wantReturns: 30 * time.Minute},
		"a time":              {spec: after("1h30m"), wantAfter: 90 * time.Minute, wantReturns: 30 * time.Minute},
		"what cannot be read": {spec: after("soon"), wantAfter: 5 * time.Minute, wantReturns: 30 * time.Minute},
		"a time to return": {
			spec:      &berthv1alpha1.Failover{ReturnAfter: &metav1.Duration{Duration: time.Minute}},
			wantAfter: 5 * time.Minute, wantReturns: time.Minute,
		},
		"a time to return that is negative": {
			spec: &berthv1alpha1.Failover{ReturnAfter: &metav1.Duration{Duration: -time.Minute}}, wantAfter: 5 * time.Minute,
		},
	}
	since := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			rule := failover.Of(tc.spec)
			if at, leaves := rule.LeaveAt(since); at.Sub(since) != tc.wantAfter || leaves == tc.wantNever {
				t.Errorf("it is left after %v: %v, want after %v: %v", at.Sub(since), leaves, tc.wantAfter, !tc.wantNever)
			}
			if got := rule.ReturnAt(since).Sub(since); got != tc.wantReturns {
				t.Errorf("it is returned to after %v, want %v", got, tc.wantReturns)
			}
		})
	}
}

func TestMayHaveReturned(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	never := berthv1alpha1.FailoverNever
	tests := map[string]struct {
		spec   berthv1alpha1.Failover
		status metav1.ConditionStatus
		// since is for how long it has been as it is, made how long before that it was made.
		since, made time.Duration
		// want is after what time it may not any more.
		want time.Duration
	}{
		"just back":                     {status: metav1.ConditionTrue, made: time.Hour, want: time.Hour},
		"returned to a moment ago":      {status: metav1.ConditionTrue, since: 30 * time.Minute, made: time.Hour, want: 30 * time.Minute},
		"returned to a while ago":       {status: metav1.ConditionTrue, since: time.Hour - 1, made: time.Hour, want: 1},
		"returned to for long enough":   {status: metav1.ConditionTrue, since: time.Hour, made: time.Hour},
		"online since it was made":      {status: metav1.ConditionTrue, since: time.Minute, made: time.Second},
		"never offline for long enough": {status: metav1.ConditionTrue, since: time.Minute, made: 5 * time.Minute},
		"offline":                       {status: metav1.ConditionFalse, since: time.Minute, made: time.Hour},
		"never left":                    {spec: berthv1alpha1.Failover{After: &never}, status: metav1.ConditionTrue, since: time.Minute, made: time.Hour},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			since := now.Add(-tc.since)
			online := &metav1.Condition{Status: tc.status, LastTransitionTime: metav1.NewTime(since)}
			if got := failover.Of(&tc.spec).MayHaveReturned(online, since.Add(-tc.made), now); got != tc.want {
				t.Errorf("it may have been returned to for %v more, want %v", got, tc.want)
			}
		})
	}
	if failover.Of(&berthv1alpha1.Failover{}).MayHaveReturned(nil, time.Time{}, now) > 0 {
		t.Error("a cluster that nobody has observed may have been returned to")
	}
}

func TestLeft(t *testing.T) {
	rule := failover.Of(&berthv1alpha1.Failover{})
	never := berthv1alpha1.FailoverNever
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	online := func(status metav1.ConditionStatus, since time.Duration) *metav1.Condition {
		return &metav1.Condition{Status: status, LastTransitionTime: metav1.Time{Time: now.Add(-since)}}
	}
	tests := map[string]struct {
		rule      failover.Rule
		condition *metav1.Condition
		was       bool
		wantLeft  bool
		wantAgain time.Duration
	}{
		"not observed yet":        {rule: rule},
		"left, then not observed": {rule: rule, was: true, wantLeft: true},
		"online":                  {rule: rule, condition: online(metav1.ConditionTrue, time.Second)},
		"just offline":            {rule: rule, condition: online(metav1.ConditionFalse, 0), wantAgain: 5 * time.Minute},
		"offline for a while":     {rule: rule, condition: online(metav1.ConditionFalse, 4*time.Minute), wantAgain: time.Minute},
		"offline for long enough": {rule: rule, condition: online(metav1.ConditionFalse, 5*time.Minute), wantLeft: true},
		"unknown for long enough": {rule: rule, condition: online(metav1.ConditionUnknown, 5*time.Minute), wantLeft: true},
		"offline once more":       {rule: rule, condition: online(metav1.ConditionFalse, time.Second), was: true, wantLeft: true},
		"back for a while":        {rule: rule, condition: online(metav1.ConditionTrue, 10*time.Minute), was: true, wantLeft: true, wantAgain: 20 * time.Minute},
		"back for all but a moment": {
			rule: rule, condition: online(metav1.ConditionTrue, 30*time.Minute-1), was: true, wantLeft: true, wantAgain: 1,
		},
		"back for long enough":          {rule: rule, condition: online(metav1.ConditionTrue, 30*time.Minute), was: true},
		"offline, but never left":       {rule: failover.Of(&berthv1alpha1.Failover{After: &never}), condition: online(metav1.ConditionFalse, time.Hour)},
		"left before Never was written": {rule: failover.Of(&berthv1alpha1.Failover{After: &never}), condition: online(metav1.ConditionFalse, time.Hour), was: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			left, again := tc.rule.Left(tc.condition, tc.was, now)
			if left != tc.wantLeft || again != tc.wantAgain {
				t.Errorf("left: %v, again after %v, want %v and %v", left, again, tc.wantLeft, tc.wantAgain)
			}
		})
	}
}

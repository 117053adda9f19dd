// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package failover decides when a cluster that has gone offline is left, and when it is returned
// to. It knows no clock.
package failover

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

const (
	// defaultAfter and defaultReturnAfter are what a Failover means that does not say.
	defaultAfter, defaultReturnAfter = 5 * time.Minute, 30 * time.Minute
)

// Rule is a Failover with all of its defaults. The zero Rule leaves a cluster as soon as it is
// offline, and returns as soon as it is online.
type Rule struct {
	after, returnAfter time.Duration
	never              bool
}

// Of returns the rule that a spec asks for, the zero Rule for none. What the API server would have
// refused counts as the default.
func Of(spec *berthv1alpha1.Failover) Rule {
	if spec == nil {
		return Rule{}
	}
	rule := Rule{after: defaultAfter, returnAfter: defaultReturnAfter}
	if spec.After != nil {
		rule.never = *spec.After == berthv1alpha1.FailoverNever
		if after, err := time.ParseDuration(string(*spec.After)); err == nil && after >= 0 {
			rule.after = after
		}
	}
	if spec.ReturnAfter != nil {
		rule.returnAfter = max(0, spec.ReturnAfter.Duration)
	}
	return rule
}

// LeaveAt returns when a cluster is left that has been offline since a moment, and whether it is
// left at all.
func (r Rule) LeaveAt(offline time.Time) (at time.Time, leaves bool) {
	return offline.Add(r.after), !r.never
}

// ReturnAfter returns for how long a cluster must have been online.
func (r Rule) ReturnAfter() time.Duration { return r.returnAfter }

// ReturnAt returns when a cluster that was left comes into question again that has been online
// since a moment.
func (r Rule) ReturnAt(online time.Time) time.Time { return online.Add(r.returnAfter) }

// MayHaveReturned tells whether a cluster that was made at a moment may have been returned to so
// short a while ago that what has moved there is not to move again. Who returns to it tells nobody,
// so one that was online again when it would have been returned to counts. It returns after which
// time that is over, 0 if it is.
func (r Rule) MayHaveReturned(online *metav1.Condition, made, now time.Time) (over time.Duration) {
	if online == nil || online.Status != metav1.ConditionTrue || r.never {
		return 0
	}
	since := online.LastTransitionTime.Time
	if since.Sub(made) <= r.after {
		return 0
	}
	return max(0, 2*r.returnAfter-now.Sub(since))
}

// Left reports whether a cluster is left at a moment, given its condition Online and whether it was
// left before, and after which time that changes if nothing else does, 0 for never. As long as
// nobody has observed the cluster, it stays as it was.
func (r Rule) Left(online *metav1.Condition, was bool, now time.Time) (left bool, again time.Duration) {
	if online == nil {
		return was, 0
	}
	since := online.LastTransitionTime.Time
	if online.Status != metav1.ConditionTrue {
		at, leaves := r.LeaveAt(since)
		if was || !leaves {
			return was && leaves, 0
		}
		return !now.Before(at), max(0, at.Sub(now))
	}
	if wait := r.ReturnAt(since).Sub(now); was && wait > 0 {
		return true, wait
	}
	return false, 0
}

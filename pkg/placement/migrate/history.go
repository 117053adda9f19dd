// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/names"
	"berth.dev/berth/pkg/placement/rank"
)

const (
	// maxDecisions is how many decisions are remembered.
	maxDecisions = 10
)

// DefaultRescheduleAfter is how long a choice stands unless something else is set.
const DefaultRescheduleAfter = time.Minute

// Decide returns the decision that chooses a cluster instead of another one, which is empty for
// none, given the results by which it was chosen.
func Decide(results []rank.Ranked, from, to string, now time.Time) berthv1alpha1.ApplicationDecision {
	decision := berthv1alpha1.ApplicationDecision{
		Time: metav1.NewTime(now).Rfc3339Copy(), From: from, To: to, Reason: berthv1alpha1.DecisionFirstChoice,
	}
	for i := range results {
		r := &results[i]
		switch {
		case r.Name == to && r.Eligible:
			decision.Score = new(r.Score)
		case r.Name == from && r.Eligible:
			decision.FromScore = new(r.Score)
		case r.Name == from:
			decision.Message = names.Clip(fmt.Sprintf("cluster %s: %s", from, strings.Join(slices.Concat(r.Rejections, r.Problems), ", ")))
		}
	}
	switch {
	case from == "":
	case decision.FromScore != nil:
		decision.Reason = berthv1alpha1.DecisionHigherScore
	default:
		decision.Reason = berthv1alpha1.DecisionNotEligible
		if decision.Message == "" {
			decision.Message = "there is no cluster " + from
		}
	}
	return decision
}

// GaveUp returns the decision that returns to a cluster because a move could not be finished.
func GaveUp(from, to, why string, now time.Time) berthv1alpha1.ApplicationDecision {
	return berthv1alpha1.ApplicationDecision{
		Time: metav1.NewTime(now).Rfc3339Copy(), From: from, To: to, Reason: berthv1alpha1.DecisionMoveGivenUp, Message: names.Clip(why),
	}
}

// Remember puts a decision before the others, and forgets the oldest beyond those that are kept.
func Remember(decisions []berthv1alpha1.ApplicationDecision, made berthv1alpha1.ApplicationDecision) []berthv1alpha1.ApplicationDecision {
	decisions = slices.Concat([]berthv1alpha1.ApplicationDecision{made}, decisions)
	return decisions[:min(len(decisions), maxDecisions)]
}

// LastReview returns when the choice of an application was due for a review last: reviews come at
// even distances after the choice was made. The result is the choice itself if none was due since.
func LastReview(chosen time.Time, every time.Duration, now time.Time) time.Time {
	if every <= 0 || now.Before(chosen.Add(every)) {
		return chosen
	}
	return chosen.Add(now.Sub(chosen).Truncate(every))
}

// NextReview returns when the choice is due for a review next.
func NextReview(chosen time.Time, every time.Duration, now time.Time) time.Time {
	return LastReview(chosen, every, now).Add(every)
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"slices"
	"time"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

const (
	// patience is how long a pod may be without a node that the scheduler finds none for.
	patience = 30 * time.Second
	// leaveOut is for how long a cluster is left out after the first move to it that has failed, and
	// longestLeaveOut the longest.
	leaveOut, longestLeaveOut = 5 * time.Minute, 24 * time.Hour
	// firstPause and longestPause bound the pause between two looks at what moves.
	firstPause, longestPause = 2 * time.Second, 30 * time.Second
)

// Facts are what is seen of a move of an application.
type Facts struct {
	// Now is the time.
	Now time.Time
	// Stages are how far its workloads are, see Stage.
	Stages []berthv1alpha1.MoveStep
	// Unschedulable is since when the scheduler finds no node for a pod, the zero time if it finds one
	// for each.
	Unschedulable time.Time
	// StopFirst reports whether the old replicas go before new ones start.
	StopFirst bool
}

// Verdict is what becomes of a move.
type Verdict struct {
	// Step is how far it is: that of the workload that has come least far.
	Step berthv1alpha1.MoveStep
	// GiveUp is why it is given up, as the reason of a condition; empty if it goes on.
	GiveUp string
	// Again is after what time to look again although nothing has changed, 0 for never.
	Again time.Duration
}

// order is that of the steps.
var order = []berthv1alpha1.MoveStep{
	berthv1alpha1.MovePrepare, berthv1alpha1.MoveStart, berthv1alpha1.MoveAvailable, berthv1alpha1.MoveShrink, berthv1alpha1.MoveDone,
}

// Review decides whether a move goes on. Once the new replicas are available it does, since to go
// back would be another move.
func Review(move *berthv1alpha1.ApplicationMoveStatus, facts *Facts) Verdict {
	verdict := Verdict{Step: berthv1alpha1.MoveDone}
	for _, stage := range facts.Stages {
		if slices.Index(order, stage) < slices.Index(order, verdict.Step) {
			verdict.Step = stage
		}
	}
	if verdict.Step == berthv1alpha1.MoveDone || verdict.Step == berthv1alpha1.MoveShrink && !facts.StopFirst {
		return verdict
	}
	left := move.Deadline.Sub(facts.Now)
	if left <= 0 {
		verdict.GiveUp = berthv1alpha1.ReasonMoveDeadlineExceeded
		return verdict
	}
	verdict.Again = left
	if facts.Unschedulable.IsZero() {
		return verdict
	}
	since := facts.Unschedulable
	if since.Before(move.StartTime.Time) {
		since = move.StartTime.Time // It may have waited already where it was.
	}
	left = since.Add(patience).Sub(facts.Now)
	if left <= 0 {
		verdict.GiveUp = berthv1alpha1.ReasonMoveUnschedulable
	}
	verdict.Again = min(verdict.Again, max(left, time.Millisecond))
	return verdict
}

// LeaveOut returns for how long a cluster is left out when so many moves to it have failed one
// after the other: 5 minutes, twice as long each time, at most a day.
func LeaveOut(failures int32) time.Duration {
	out := leaveOut
	for ; failures > 1 && out < longestLeaveOut; failures-- {
		out *= 2
	}
	return min(out, longestLeaveOut)
}

// Pause returns after what pause to look again at an application that has been on its way for some
// time, although nothing is known to have changed. What waits for hours, for pods of a site that is
// cut off for instance, is not looked at all the time: what changes is seen by itself.
func Pause(under time.Duration) time.Duration {
	return min(max(under/10, firstPause), longestPause)
}

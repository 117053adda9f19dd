// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/bundle"
	"berth.dev/berth/pkg/placement/names"
	"berth.dev/berth/pkg/placement/subscription"
)

func condition(kind string, status bool, reason, message string) metav1.Condition {
	c := metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: reason, Message: names.Clip(message)}
	if status {
		c.Status = metav1.ConditionTrue
	}
	return c
}

// scheduled returns the condition that reports whether a share is decided for all replicas. Missing
// says of which feeds, by index, copies are missing, and why.
func (o *outcome) scheduled(missing map[int]string) metav1.Condition {
	no := func(reason, message string) metav1.Condition {
		return condition(berthv1alpha1.SubscriptionScheduled, false, reason, message)
	}
	unplaced, notMade, troubles := []string{}, []string{}, map[string][]string{}
	note := func(reason string, i int, why string) {
		troubles[reason] = append(troubles[reason], o.input.Feeds[i].Name+": "+why)
	}
	for i := range o.feeds {
		input, division := &o.input.Feeds[i], &o.decision.Feeds[i]
		switch {
		case input.Obstacle != "":
			note(o.feeds[i].obstacleReason(), i, input.Obstacle)
		case missing[i] != "":
			note(berthv1alpha1.ReasonCopyMissing, i, missing[i])
		case input.Stalled > 0:
			notMade = append(notMade, o.notMade(i))
		case division.Unplaced+division.Lacking > 0:
			unplaced = append(unplaced,
				fmt.Sprintf("%d of %d replicas of %s%s", division.Unplaced+division.Lacking, *input.Wanted, input.Name, o.why(i)))
		}
	}
	if problem := o.decision.Problem; problem != nil {
		return no(problem.Reason, problem.Message)
	}
	for _, reason := range []string{
		berthv1alpha1.ReasonOtherSubscriptionWins, berthv1alpha1.ReasonPolicyTaken, berthv1alpha1.ReasonPodsRefused,
		berthv1alpha1.ReasonFeedsUnknown, berthv1alpha1.ReasonCopyMissing,
	} {
		if len(troubles[reason]) > 0 {
			return no(reason, strings.Join(troubles[reason], "; "))
		}
	}
	switch {
	case o.decision.Waiting != "":
		return no(berthv1alpha1.ReasonBundleWaits, o.waiting())
	case len(unplaced) > 0:
		return no(berthv1alpha1.ReasonNoRoom, "no room for "+strings.Join(unplaced, ", "))
	case len(notMade) > 0:
		return no(berthv1alpha1.ReasonPodsNotMade, strings.Join(notMade, ", "))
	}
	return condition(berthv1alpha1.SubscriptionScheduled, true, berthv1alpha1.ReasonAllPlaced,
		"a share is decided for all replicas of all feeds"+o.uncounted())
}

// why says in brackets, after a space, what stops the next replica of a feed in the clusters that
// are full; empty if none is.
func (o *outcome) why(i int) string {
	if len(o.limitedBy[i]) == 0 {
		return ""
	}
	return " (" + names.First(o.limitedBy[i], maxReasons, "; ") + ")"
}

// waiting says what a bundle waits for, and what stops the next replica of the feed that does not
// fit.
func (o *outcome) waiting() string {
	if o.decision.Short == nil {
		return o.decision.Waiting
	}
	return o.decision.Waiting + o.why(*o.decision.Short)
}

// notMade says of which replicas of a feed nobody makes pods.
func (o *outcome) notMade(i int) string {
	input := &o.input.Feeds[i]
	return fmt.Sprintf("nobody has made %d of the %d pods of %s for %v, so no room is kept for them",
		input.Stalled, *input.Wanted, input.Name, o.promiseLife)
}

// uncounted names the feeds of a bundle that start with it but have no share, because they have no
// number of replicas; empty if there are none. The room of their pods is not looked for.
func (o *outcome) uncounted() string {
	var feeds []string
	for i := range o.feeds {
		if input := &o.input.Feeds[i]; o.input.Bundled && input.Wanted == nil && input.Obstacle == "" {
			feeds = append(feeds, input.Name)
		}
	}
	if len(feeds) == 0 {
		return ""
	}
	return "; without a number of replicas, so started with the bundle without looking for room: " +
		names.First(feeds, maxNames, ", ")
}

// obstacleReason returns the reason of the condition Scheduled for what keeps a feed from being
// divided.
func (f *feed) obstacleReason() string {
	switch {
	case f.foreign:
		return berthv1alpha1.ReasonOtherSubscriptionWins
	case f.policyTaken:
		return berthv1alpha1.ReasonPolicyTaken
	case f.refused:
		return berthv1alpha1.ReasonPodsRefused
	}
	return berthv1alpha1.ReasonFeedsUnknown
}

// allowed returns the condition Scheduled, another one if a right is missing to write copies.
func (o *outcome) allowed(scheduled metav1.Condition) metav1.Condition {
	if o.denied == "" || o.decision.Problem != nil {
		return scheduled
	}
	return condition(berthv1alpha1.SubscriptionScheduled, false, berthv1alpha1.ReasonNotAllowed, o.denied)
}

// degraded returns the condition that reports whether something has lost its place: the Cluster,
// the node, or the room for a replica.
func (o *outcome) degraded() metav1.Condition {
	closed, stranded := map[string]bool{}, map[string]int64{}
	var short []string
	for i := range o.feeds {
		for name := range o.decision.Feeds[i].Shares {
			if !o.decision.Open(name) {
				closed[name+o.untilLeft(name)] = true
			}
		}
		for node, n := range o.feeds[i].stranded {
			stranded[node] += n
		}
		if n := o.roomLost(i); n > 0 {
			short = append(short, fmt.Sprintf("%d of %d replicas of %s", n, *o.input.Feeds[i].Wanted, o.input.Feeds[i].Name))
		}
	}
	yes := func(reason, message string) metav1.Condition {
		return condition(berthv1alpha1.SubscriptionDegraded, true, reason, message)
	}
	switch {
	case len(closed) > 0:
		return yes(berthv1alpha1.ReasonClusterLost,
			"replicas are held by Clusters that take no more: "+names.First(slices.Sorted(maps.Keys(closed)), maxNames, ", "))
	case len(stranded) > 0:
		return yes(berthv1alpha1.ReasonNodeLost,
			names.Are(int(bundle.Sum(stranded)), "pod")+" on nodes that are not ready, or gone: "+names.First(slices.Sorted(maps.Keys(stranded)), maxNames, ", "))
	case len(short) > 0:
		return yes(berthv1alpha1.ReasonRoomLost, "no room any more for "+strings.Join(short, ", "))
	}
	return condition(berthv1alpha1.SubscriptionDegraded, false, berthv1alpha1.ReasonPlacesKept, "nothing has lost its place")
}

// untilLeft says in brackets, after a space, until when the shares of a Cluster that is offline
// wait for it; empty if they do not.
func (o *outcome) untilLeft(cluster string) string {
	switch at, waits := o.away[cluster]; {
	case !waits:
		return ""
	case at.IsZero():
		return " (offline, and failover.after is Never)"
	default:
		return " (offline, left at " + at.UTC().Format(time.RFC3339) + ")"
	}
}

// roomLost returns how many replicas of a feed had a place once and find no room any more.
func (o *outcome) roomLost(i int) int64 {
	division, stalled := &o.decision.Feeds[i], o.input.Feeds[i].Stalled
	known := apimeta.FindStatusCondition(o.object.Status.Conditions, berthv1alpha1.SubscriptionDegraded)
	was := known != nil && known.Reason == berthv1alpha1.ReasonRoomLost
	before := subscription.PlacementOf(o.object, o.feeds[i].ref)
	switch {
	case division.Lacking > 0:
		return division.Lacking
	case division.Unplaced <= stalled || before == nil:
		return 0
	case was || before.Unplaced == 0 && int64(ptr.Deref(before.Replicas, 0)) >= *o.input.Feeds[i].Wanted:
		return division.Unplaced - stalled
	}
	return 0
}

// maxNames is how many names a message lists, maxReasons how many texts of the scheduler, which are
// longer.
const maxNames, maxReasons = 5, 3

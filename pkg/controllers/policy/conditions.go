// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/names"
	"berth.dev/berth/pkg/placement/policymatch"
)

// maxNames bounds the names that one message lists.
const maxNames = 10

// accepted reports whether the spec can be carried out as written. Unusable weights come first:
// they stop the whole policy.
func accepted(in *inForce) metav1.Condition {
	condition := metav1.Condition{Type: berthv1alpha1.PolicyAccepted, Status: metav1.ConditionFalse}
	problems := policymatch.Problems(in.policy)
	switch {
	case in.Err != nil:
		condition.Reason, condition.Message = berthv1alpha1.ReasonInvalidWeights, in.Err.Error()
	case len(problems) > 0:
		condition.Reason = problems[0].Reason
		messages := make([]string, len(problems))
		for i := range problems {
			messages[i] = problems[i].Message
		}
		condition.Message = names.First(messages, maxNames, "; ")
	default:
		condition.Status = metav1.ConditionTrue
		condition.Reason, condition.Message = berthv1alpha1.ReasonAccepted, "the policy can be carried out"
		if warning := hasty(in); warning != "" {
			condition.Message += "; " + warning
		}
	}
	return condition
}

// placedCondition reports whether the replicas run where the policy wants them, and if not, what
// becomes of it.
func placedCondition(in *inForce) metav1.Condition {
	condition := metav1.Condition{Type: berthv1alpha1.PolicyPlaced, Status: metav1.ConditionFalse}
	total := sum(in)
	switch {
	case len(in.placements) == 0:
		condition.Status = metav1.ConditionUnknown
		condition.Reason = berthv1alpha1.ReasonNoWorkloads
		condition.Message = "the policy places no workload at present"
	case in.Err != nil:
		condition.Reason = berthv1alpha1.ReasonInvalidWeights
		condition.Message = "the weights of the policy cannot be used, so its pods wait"
	case total.moving:
		condition.Reason = berthv1alpha1.ReasonRebalancing
		condition.Message = fmt.Sprintf("moving replicas; outside their share: %d", total.misplaced)
	case total.misplaced > 0:
		condition.Reason = berthv1alpha1.ReasonMisplaced
		condition.Message = fmt.Sprintf("replicas outside their share: %d (%s)", total.misplaced, names.First(total.held, maxNames, "; "))
	case total.pending > 0 || total.short > 0:
		condition.Reason = berthv1alpha1.ReasonPodsPending
		condition.Message = fmt.Sprintf("pods without a node: %d, replicas missing: %d", total.pending, total.short)
	default:
		condition.Status = metav1.ConditionTrue
		condition.Reason, condition.Message = berthv1alpha1.ReasonAsDesired, "all replicas run where the policy wants them"
	}
	if told := slices.Concat(behind(in), full(in), unscaled(in)); len(told) > 0 {
		condition.Message += "; " + names.First(told, maxNames, "; ")
	}
	if len(in.unread) > 0 {
		condition.Message += "; the policy does not count for these kinds: " + names.First(in.unread, maxNames, ", ")
	}
	if len(in.uncounted) > 0 {
		condition.Message += "; pods of these workloads take turns, because their number cannot be read: " +
			names.First(in.uncounted, maxNames, "; ")
	}
	if len(in.unserved) > 0 {
		condition.Message += "; these selected workloads do not use Berth's scheduler: " + nameAll(in.unserved)
	}
	return condition
}

// totals are sums over the workloads of a policy.
type totals struct {
	desired, current, pending, misplaced, short int
	// moving is true while replicas are being moved, held are the reasons why others are not.
	moving bool
	held   []string
}

func sum(in *inForce) totals {
	var t totals
	for _, p := range in.placements {
		for i := range p.Desired {
			t.desired += int(p.Desired[i])
			t.current += int(p.Current[i])
		}
		t.pending += int(p.pending)
		t.misplaced += p.Misplaced
		t.short += int(p.short())
		t.moving = t.moving || p.moving
		if p.Misplaced > 0 && p.decision.Held != "" {
			t.held = append(t.held, p.decision.Held.String())
		}
	}
	slices.Sort(t.held)
	t.held = slices.Compact(t.held)
	return t
}

// conflicted reports whether another policy places a workload that this one selects.
func conflicted(in *inForce) metav1.Condition {
	condition := metav1.Condition{
		Type: berthv1alpha1.PolicyConflicted, Status: metav1.ConditionFalse, Reason: berthv1alpha1.ReasonNoConflict,
		Message: "no other policy places a workload that this one selects",
	}
	if len(in.lost) == 0 {
		return condition
	}
	condition.Status, condition.Reason = metav1.ConditionTrue, berthv1alpha1.ReasonOtherPolicyWins
	messages := make([]string, len(in.lost))
	for i, loss := range in.lost {
		messages[i] = fmt.Sprintf("%s is placed by policy %s", name(loss.workload), loss.winner)
	}
	condition.Message = names.First(messages, maxNames, ", ")
	return condition
}

// name is how messages call a workload, or a part of one.
func name(o *workload.Observed) string {
	if o.Component != "" {
		return o.Component + " of " + o.Kind + " " + o.Name
	}
	return o.Kind + " " + o.Name
}

func nameAll(list []*workload.Observed) string {
	all := make([]string, len(list))
	for i, o := range list {
		all[i] = name(o)
	}
	return names.First(all, maxNames, ", ")
}

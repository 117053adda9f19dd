// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/divide"
)

// write makes known how a Subscription is divided. Where room was promised the promise is written before the policy that makes
// use of it; otherwise the policy is, because no pod may start without it once the status tells of the feed.
func (p *pass) write(ctx context.Context, m *member) error {
	steps := []func(context.Context, *member) error{p.writePolicies, p.writeStatus}
	if m.dynamic() || m.bundled {
		slices.Reverse(steps)
	}
	if err := steps[0](ctx, m); err != nil {
		return err
	}
	// A copy comes after its policy. What is wrong with it is told in the status.
	return errors.Join(p.writeCopies(ctx, m), steps[1](ctx, m))
}

func (p *pass) writeStatus(ctx context.Context, m *member) error {
	before := m.object
	after := before.DeepCopy()
	after.Status.ObservedGeneration = before.Generation
	after.Status.Pledge = m.pledge
	if m.rebalance == "" || m.problem == nil && m.admitted() {
		after.Status.ObservedRebalance = m.rebalance
	}
	after.Status.Feeds = nil
	for _, f := range m.feeds {
		after.Status.Feeds = append(after.Status.Feeds, m.placement(f))
	}
	after.Status.BindingClusters = m.binding()
	for _, condition := range []metav1.Condition{m.scheduled(), m.available(), m.degraded()} {
		condition.ObservedGeneration = before.Generation
		apimeta.SetStatusCondition(&after.Status.Conditions, condition)
	}
	if apiequality.Semantic.DeepEqual(before.Status, after.Status) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := p.Client.Status().Patch(ctx, after, patch); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return nil
		}
		return fmt.Errorf("writing the status of Subscription %s/%s: %w", before.Namespace, before.Name, err)
	}
	p.written.add(before.ResourceVersion, after)
	p.tell(before, after)
	return nil
}

// binding names the Clusters that take feeds.
func (m *member) binding() []string {
	bound := map[string]bool{}
	for _, f := range m.feeds {
		for name := range f.shares {
			bound[name] = true
		}
	}
	if m.strategy == divide.Replication && m.problem == nil {
		for _, c := range m.clusters {
			bound[c.name] = true
		}
	}
	return slices.Sorted(maps.Keys(bound))
}

// placement tells how a feed is divided.
func (m *member) placement(f *feed) berthv1alpha1.FeedPlacement {
	told := berthv1alpha1.FeedPlacement{Feed: *f.ref, Unplaced: int32(f.unplaced), Message: f.unknown + f.lost + f.missing}
	if f.wanted != nil {
		told.Replicas = ptr.To(int32(*f.wanted))
	}
	for _, name := range slices.Sorted(maps.Keys(f.shares)) {
		told.Clusters = append(told.Clusters, berthv1alpha1.FeedClusterReplicas{Name: name, Replicas: int32(f.shares[name])})
	}
	if f.unplaced > 0 {
		switch {
		case m.waiting != "":
			told.Message = m.waiting
		case m.problem != nil:
			told.Message = m.problem.message
		default:
			told.Message = fmt.Sprintf("%d of %d replicas find no room in the selected Clusters", f.unplaced, *f.wanted)
		}
	}
	told.Message = clip(told.Message)
	return told
}

// maxMessage is how much of a message is told.
const maxMessage = 1024

func clip(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage-3], "") + "..."
}

func condition(kind string, status bool, reason, message string) metav1.Condition {
	c := metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: reason, Message: clip(message)}
	if status {
		c.Status = metav1.ConditionTrue
	}
	return c
}

func (m *member) scheduled() metav1.Condition {
	no := func(reason, message string) metav1.Condition {
		return condition(berthv1alpha1.SubscriptionScheduled, false, reason, message)
	}
	unplaced, troubles := []string{}, map[string][]string{}
	for _, f := range m.feeds {
		name := f.ref.Kind + " " + f.ref.Name
		switch {
		case f.lost != "":
			troubles[berthv1alpha1.ReasonOtherSubscriptionWins] = append(troubles[berthv1alpha1.ReasonOtherSubscriptionWins], name+": "+f.lost)
		case f.unknown != "":
			troubles[berthv1alpha1.ReasonFeedsUnknown] = append(troubles[berthv1alpha1.ReasonFeedsUnknown], name+": "+f.unknown)
		case f.missing != "":
			troubles[berthv1alpha1.ReasonCopyMissing] = append(troubles[berthv1alpha1.ReasonCopyMissing], name+": "+f.missing)
		case f.unplaced+f.lacking > 0:
			unplaced = append(unplaced, fmt.Sprintf("%d of %d replicas of %s", f.unplaced+f.lacking, *f.wanted, name))
		}
	}
	if m.problem != nil {
		return no(m.problem.reason, m.problem.message)
	}
	for _, reason := range []string{
		berthv1alpha1.ReasonOtherSubscriptionWins, berthv1alpha1.ReasonFeedsUnknown, berthv1alpha1.ReasonCopyMissing,
	} {
		if len(troubles[reason]) > 0 {
			return no(reason, strings.Join(troubles[reason], "; "))
		}
	}
	switch {
	case m.waiting != "":
		return no(berthv1alpha1.ReasonBundleWaits, m.waiting)
	case len(unplaced) > 0:
		return no(berthv1alpha1.ReasonNoRoom, "no room for "+strings.Join(unplaced, ", "))
	}
	return condition(berthv1alpha1.SubscriptionScheduled, true, berthv1alpha1.ReasonAllPlaced, "all replicas of all feeds have a place")
}

func (m *member) available() metav1.Condition {
	var missing []string
	for _, f := range m.feeds {
		switch {
		case f.unknown+f.lost != "":
			missing = append(missing, fmt.Sprintf("nothing is known of %s %s", f.ref.Kind, f.ref.Name))
		case f.wanted != nil && f.running < *f.wanted+f.copied:
			missing = append(missing, fmt.Sprintf("%d of %d replicas of %s %s run", f.running, *f.wanted+f.copied, f.ref.Kind, f.ref.Name))
		}
	}
	if len(missing) > 0 {
		return condition(berthv1alpha1.SubscriptionAvailable, false, berthv1alpha1.ReasonReplicasMissing, strings.Join(missing, ", "))
	}
	return condition(berthv1alpha1.SubscriptionAvailable, true, berthv1alpha1.ReasonAllRunning, "all replicas of all feeds run")
}

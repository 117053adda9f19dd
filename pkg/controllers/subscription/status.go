// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"context"
	"fmt"
	"maps"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/divide"
	"berth.dev/berth/pkg/placement/names"
)

// withStatus returns the Subscription with the status that it should have. Missing says of which
// feeds, by index, copies are missing, and why.
func (o *outcome) withStatus(missing map[int]string) *berthv1alpha1.Subscription {
	after := o.object.DeepCopy()
	status := &after.Status
	status.ObservedGeneration = after.Generation
	status.Pledge, status.FailedOver = o.pledge, o.failedOver
	if o.rebalance == "" || o.decision.Problem == nil && o.decision.Admitted() {
		status.ObservedRebalance = o.rebalance
	}
	missing = o.withoutCopies(missing)
	status.Feeds = nil
	for i := range o.feeds {
		status.Feeds = append(status.Feeds, o.placement(i, missing[i]))
	}
	status.BindingClusters, status.Ready = o.bindingClusters(), o.ready()
	for _, condition := range []metav1.Condition{o.allowed(o.scheduled(missing)), o.available(), o.degraded()} {
		condition.ObservedGeneration = after.Generation
		apimeta.SetStatusCondition(&status.Conditions, condition)
	}
	return after
}

// withoutCopies adds the feeds that are not copied because of their kind to those of which copies
// are missing.
func (o *outcome) withoutCopies(missing map[int]string) map[int]string {
	all := map[int]string{}
	maps.Copy(all, missing)
	for i := range o.feeds {
		if o.decision.Feeds[i].NotCopied {
			all[i] = fmt.Sprintf("objects of kind %s are not copied: it runs in one Cluster", o.feeds[i].ref.Kind)
		}
	}
	return all
}

// writeStatus writes a status that has changed, and makes events of that.
func (r *Reconciler) writeStatus(ctx context.Context, before, after *berthv1alpha1.Subscription) error {
	if apiequality.Semantic.DeepEqual(before.Status, after.Status) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	r.requests++
	if err := r.Client.Status().Patch(ctx, after, patch); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return nil
		}
		return fmt.Errorf("writing the status of Subscription %s/%s: %w", before.Namespace, before.Name, err)
	}
	r.written.add(before.ResourceVersion, after)
	r.recordEvents(before, after)
	return nil
}

// bindingClusters names the Clusters that take feeds.
func (o *outcome) bindingClusters() []string {
	bound := map[string]bool{}
	for i := range o.feeds {
		for name := range o.decision.Feeds[i].Shares {
			bound[name] = true
		}
	}
	if o.input.Strategy == divide.Replication && o.decision.Problem == nil {
		for _, c := range o.decision.Clusters {
			bound[c.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(bound))
}

// placement returns what the status says of a feed, of which copies may be missing.
func (o *outcome) placement(i int, missing string) berthv1alpha1.FeedPlacement {
	input, division := &o.input.Feeds[i], &o.decision.Feeds[i]
	p := berthv1alpha1.FeedPlacement{Feed: *o.feeds[i].ref, Unplaced: int32(division.Unplaced), Message: input.Obstacle + missing}
	if input.Wanted != nil {
		p.Replicas = ptr.To(int32(*input.Wanted))
	}
	p.Clusters = o.clusters(i)
	if expires := o.feeds[i].making.Expires; !expires.IsZero() {
		p.ExpirationTime = &metav1.Time{Time: expires}
	}
	if division.Unplaced > 0 {
		switch {
		case o.decision.Waiting == "" && o.decision.Problem == nil && input.Stalled > 0:
			p.Message = o.notMade(i)
			if n := division.Unplaced - input.Stalled; n > 0 {
				p.Message += fmt.Sprintf("; %d of %d replicas find no room in the selected Clusters", n, *input.Wanted) + o.why(i)
			}
		case o.decision.Waiting != "":
			p.Message = o.waiting()
		case o.decision.Problem != nil:
			p.Message = o.decision.Problem.Message
		default:
			p.Message = fmt.Sprintf("%d of %d replicas find no room in the selected Clusters", division.Unplaced, *input.Wanted) + o.why(i)
		}
	}
	p.Message = names.Clip(p.Message)
	return p
}

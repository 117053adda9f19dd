// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feedinventory

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/names"
)

// belongs reports whether an inventory was made for a Subscription.
func belongs(inventory *berthv1alpha1.FeedInventory, subscription *berthv1alpha1.Subscription) bool {
	owner := metav1.GetControllerOf(inventory)
	return owner != nil && owner.UID == subscription.UID
}

// write brings the inventory and its status up to date. What is as it should be is not written.
func (r *Reconciler) write(ctx context.Context, subscription *berthv1alpha1.Subscription, findings []finding) error {
	existing := &berthv1alpha1.FeedInventory{}
	err := r.client.Get(ctx, client.ObjectKeyFromObject(subscription), existing)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	if err != nil {
		existing = nil
	}
	inventory, err := r.writeSpec(ctx, subscription, existing, findings)
	if apierrors.IsInvalid(err) && blame(err, findings) {
		inventory, err = r.writeSpec(ctx, subscription, existing, findings)
	}
	if err != nil {
		return fmt.Errorf("writing the inventory of Subscription %s/%s: %w", subscription.Namespace, subscription.Name, err)
	}
	if err := r.writeStatus(ctx, subscription, inventory, findings); err != nil {
		return fmt.Errorf("writing the status of FeedInventory %s/%s: %w", inventory.Namespace, inventory.Name, err)
	}
	return nil
}

// writeSpec creates or updates the inventory. Labels and annotations of others stay.
func (r *Reconciler) writeSpec(
	ctx context.Context, subscription *berthv1alpha1.Subscription, existing *berthv1alpha1.FeedInventory, findings []finding,
) (*berthv1alpha1.FeedInventory, error) {
	inventory := &berthv1alpha1.FeedInventory{
		ObjectMeta: metav1.ObjectMeta{Namespace: subscription.Namespace, Name: subscription.Name},
	}
	if existing != nil {
		inventory = existing.DeepCopy()
	}
	inventory.OwnerReferences = []metav1.OwnerReference{ownerOf(subscription)}
	inventory.Spec.Feeds = orders(existing, findings)
	if existing == nil {
		return inventory, r.client.Create(ctx, inventory)
	}
	if apiequality.Semantic.DeepEqual(existing.Spec, inventory.Spec) &&
		apiequality.Semantic.DeepEqual(existing.OwnerReferences, inventory.OwnerReferences) {
		return inventory, nil
	}
	return inventory, r.client.Update(ctx, inventory)
}

// ownerOf returns a reference that lets the inventory go with its Subscription. It does not block
// the deletion of the Subscription, which would take a permission more.
func ownerOf(subscription *berthv1alpha1.Subscription) metav1.OwnerReference {
	owner := *metav1.NewControllerRef(subscription, berthv1alpha1.SchemeGroupVersion.WithKind("Subscription"))
	owner.BlockOwnerDeletion = nil
	return owner
}

// orders returns the entries of the findings. What cannot be read for the moment keeps the entry
// that it has.
func orders(existing *berthv1alpha1.FeedInventory, findings []finding) []berthv1alpha1.FeedOrder {
	known := map[berthv1alpha1.Feed]berthv1alpha1.FeedOrder{}
	if existing != nil {
		for _, order := range existing.Spec.Feeds {
			known[order.Feed] = order
		}
	}
	list := make([]berthv1alpha1.FeedOrder, len(findings))
	for i := range findings {
		list[i] = findings[i].order
		if order, ok := known[list[i].Feed]; ok && findings[i].transient {
			list[i] = order
		}
	}
	return list
}

// entry is how the API server names a part of an inventory that it refuses.
var entry = regexp.MustCompile(`^spec\.feeds\[(\d+)\]`)

// blame takes the entries that the API server refuses for feeds that cannot be understood, so that
// they hold up no others. It returns false if there is none to blame.
func blame(err error, findings []finding) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	found := false
	for _, cause := range status.Status().Details.Causes {
		parts := entry.FindStringSubmatch(cause.Field)
		if parts == nil {
			continue
		}
		if i, err := strconv.Atoi(parts[1]); err == nil && i < len(findings) && findings[i].parsed() {
			feed := findings[i].order.Feed
			findings[i] = trouble(berthv1alpha1.ReasonFeedInvalid, "%s: %.500s", strings.TrimPrefix(cause.Field, parts[0]+"."), cause.Message)
			findings[i].order.Feed = feed
			found = true
		}
	}
	return found
}

// writeStatus brings the status of the inventory up to date.
func (r *Reconciler) writeStatus(
	ctx context.Context, subscription *berthv1alpha1.Subscription, inventory *berthv1alpha1.FeedInventory, findings []finding,
) error {
	after := inventory.DeepCopy()
	after.Status.ObservedGeneration = subscription.Generation
	after.Status.FeedCount = int32(len(findings))
	after.Status.Feeds = feedStatuses(inventory.Status.Feeds, findings)
	apimeta.SetStatusCondition(&after.Status.Conditions, summary(berthv1alpha1.InventoryComplete, findings))
	if apiequality.Semantic.DeepEqual(inventory.Status, after.Status) {
		return nil
	}
	return r.client.Status().Patch(ctx, after, client.MergeFromWithOptions(inventory, client.MergeFromWithOptimisticLock{}))
}

// feedStatuses returns the status of each feed. Conditions that have not changed keep their time.
func feedStatuses(before []berthv1alpha1.FeedStatus, findings []finding) []berthv1alpha1.FeedStatus {
	known := make(map[berthv1alpha1.Feed][]metav1.Condition, len(before))
	for i := range before {
		known[before[i].Feed] = before[i].Conditions
	}
	list := make([]berthv1alpha1.FeedStatus, len(findings))
	for i := range findings {
		f := &findings[i]
		condition := metav1.Condition{
			Type: berthv1alpha1.FeedParsed, Status: metav1.ConditionTrue, Reason: f.reason, Message: f.message,
		}
		switch {
		case f.transient:
			condition.Status = metav1.ConditionUnknown
		case !f.parsed():
			condition.Status = metav1.ConditionFalse
		}
		list[i] = berthv1alpha1.FeedStatus{Feed: f.order.Feed, Parser: f.parser, Conditions: append([]metav1.Condition(nil), known[f.order.Feed]...)}
		apimeta.SetStatusCondition(&list[i].Conditions, condition)
	}
	return list
}

// allKnown is the message when nothing is missing.
const allKnown = "it is known of all feeds what they need"

// maxNamed is how many feeds in trouble a condition names.
const maxNamed = 3

// summary returns a condition that is true if all feeds are parsed, and names some of those that
// are not.
func summary(conditionType string, findings []finding) metav1.Condition {
	var missing []string
	for i := range findings {
		if f := &findings[i]; !f.parsed() {
			missing = append(missing, fmt.Sprintf("%s (%s): %.300s", f.order.Describe(), f.reason, f.message))
		}
	}
	if len(missing) == 0 {
		return metav1.Condition{
			Type: conditionType, Status: metav1.ConditionTrue, Reason: berthv1alpha1.ReasonAllFeedsParsed, Message: allKnown + uncounted(findings),
		}
	}
	return metav1.Condition{
		Type: conditionType, Status: metav1.ConditionFalse, Reason: berthv1alpha1.ReasonFeedsMissing,
		Message: fmt.Sprintf("%d of %d feeds are missing: %s",
			len(missing), len(findings), names.First(missing, maxNamed, "; ")),
	}
}

// uncounted names feeds that have no number of replicas, as the Subscription does; empty if there
// are none.
func uncounted(findings []finding) string {
	var feeds []string
	for i := range findings {
		if order := &findings[i].order; order.DesiredReplicas == nil {
			feeds = append(feeds, order.Describe())
		}
	}
	if len(feeds) == 0 {
		return ""
	}
	return "; without a number of replicas: " + names.First(feeds, maxNamed, ", ")
}

// parsed returns a Subscription with the condition Parsed and what is known of its Helm releases as
// they are now, and whether that is new.
func parsed(before, observed *berthv1alpha1.Subscription, findings []finding) (after *berthv1alpha1.Subscription, changed bool) {
	after = observed.DeepCopy()
	condition := summary(berthv1alpha1.SubscriptionParsed, findings)
	condition.ObservedGeneration = before.Generation
	apimeta.SetStatusCondition(&after.Status.Conditions, condition)
	return after, !apiequality.Semantic.DeepEqual(before.Status, after.Status)
}

// writeParsed writes the status of a Subscription that parsed has found to be new. Those that have
// no inventory have it as well.
func (r *Reconciler) writeParsed(ctx context.Context, before, after *berthv1alpha1.Subscription) error {
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.client.Status().Patch(ctx, after, patch); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("writing the status of Subscription %s/%s: %w", before.Namespace, before.Name, err)
	}
	r.recordEvent(before, apimeta.FindStatusCondition(after.Status.Conditions, berthv1alpha1.SubscriptionParsed))
	return nil
}

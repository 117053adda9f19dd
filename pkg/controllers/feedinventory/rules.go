// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feedinventory

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/internal/singleton"
	"berth.dev/berth/pkg/feeds"
)

// ruleKeeper keeps the registry of parsers, and tells of each FeedParser whether it is used.
type ruleKeeper struct{ *Reconciler }

// Reconcile makes the registry anew if something has changed.
func (k *ruleKeeper) Reconcile(ctx context.Context, _ singleton.Key) (reconcile.Result, error) {
	rules := &berthv1alpha1.FeedParserList{}
	if err := k.client.List(ctx, rules); err != nil {
		return reconcile.Result{}, fmt.Errorf("listing FeedParsers: %w", err)
	}
	definitions := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := k.client.List(ctx, definitions); err != nil {
		return reconcile.Result{}, fmt.Errorf("listing CustomResourceDefinitions: %w", err)
	}
	first, _ := k.parsers.current()
	refused, err := k.parsers.build(rules.Items, definitions.Items)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("making the registry of parsers: %w", err)
	}
	if err := k.askForAll(ctx, first == nil); err != nil {
		return reconcile.Result{}, err
	}
	var errs []error
	disputed := feeds.Disputed(rules.Items)
	for i := range rules.Items {
		name := rules.Items[i].Name
		errs = append(errs, k.writeStatus(ctx, &rules.Items[i], refused[name], disputed[name]))
	}
	return reconcile.Result{}, errors.Join(errs...)
}

// askForAll asks for a pass over all Subscriptions that the change may concern: kinds may have come
// or gone.
func (k *ruleKeeper) askForAll(ctx context.Context, first bool) error {
	k.watches.again()
	k.mu.Lock()
	k.kinds = nil
	k.mu.Unlock()
	if !first {
		k.watches.changed(k.subscriptions()...)
		return nil
	}
	list := &berthv1alpha1.SubscriptionList{}
	if err := k.client.List(ctx, list); err != nil {
		return fmt.Errorf("listing Subscriptions: %w", err)
	}
	for i := range list.Items {
		k.watches.changed(client.ObjectKeyFromObject(&list.Items[i]))
	}
	return nil
}

// conflict returns the condition that names the FeedParsers which say something else of the kind of
// this one.
func conflict(rule *berthv1alpha1.FeedParser, others []string) metav1.Condition {
	condition := metav1.Condition{
		Type: berthv1alpha1.FeedParserConflicted, Status: metav1.ConditionFalse, Reason: berthv1alpha1.ReasonNoConflict,
		Message: "no other FeedParser says something else of the kind", ObservedGeneration: rule.Generation,
	}
	if len(others) > 0 {
		condition.Status, condition.Reason = metav1.ConditionTrue, berthv1alpha1.ReasonFeedParserDisputed
		condition.Message = fmt.Sprintf("FeedParser %.800s says something else of %.63s: the oldest is used; delete all but one",
			strings.Join(others, ", "), rule.Spec.Kind)
	}
	return condition
}

// writeStatus tells of a FeedParser whether it is used, and which others it contradicts.
func (k *ruleKeeper) writeStatus(ctx context.Context, rule *berthv1alpha1.FeedParser, refused error, others []string) error {
	condition := metav1.Condition{
		Type: berthv1alpha1.FeedParserAccepted, Status: metav1.ConditionTrue, Reason: berthv1alpha1.ReasonFeedParserAccepted,
		ObservedGeneration: rule.Generation,
	}
	if refused != nil {
		condition.Status, condition.Reason = metav1.ConditionFalse, berthv1alpha1.ReasonFeedParserInvalid
		condition.Message = fmt.Sprintf("%.900s", refused)
		if errors.Is(refused, feeds.ErrShadowed) {
			condition.Reason = berthv1alpha1.ReasonFeedParserShadowed
		}
	}
	after := rule.DeepCopy()
	after.Status.ObservedGeneration = rule.Generation
	apimeta.SetStatusCondition(&after.Status.Conditions, condition)
	apimeta.SetStatusCondition(&after.Status.Conditions, conflict(rule, others))
	if apiequality.Semantic.DeepEqual(rule.Status, after.Status) {
		return nil
	}
	patch := client.MergeFromWithOptions(rule, client.MergeFromWithOptimisticLock{})
	err := k.client.Status().Patch(ctx, after, patch)
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("writing the status of FeedParser %s: %w", rule.Name, err)
	}
	return nil
}

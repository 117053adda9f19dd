// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/placement/subscription"
)

// Subscriptions is an immutable picture of all Subscriptions.
type Subscriptions struct {
	// Index tells which Subscription places which workload.
	Index *subscription.Index

	byName map[types.NamespacedName]*berthv1alpha1.Subscription
}

// ChangedFrom returns those Subscriptions that differ from the ones of before, which may be nil,
// and for those that are gone the ones of before, by namespace.
func (s *Subscriptions) ChangedFrom(before *Subscriptions) map[string][]*berthv1alpha1.Subscription {
	changed := map[string][]*berthv1alpha1.Subscription{}
	for key, object := range s.byName {
		if before == nil || before.byName[key] != object {
			changed[key.Namespace] = append(changed[key.Namespace], object)
		}
	}
	if before != nil {
		for key, object := range before.byName {
			if s.byName[key] == nil {
				changed[key.Namespace] = append(changed[key.Namespace], object)
			}
		}
	}
	return changed
}

// SubscriptionCatalog keeps the newest Subscriptions. It is safe for concurrent use.
type SubscriptionCatalog struct {
	*board[Subscriptions]
}

// NewSubscriptionCatalog is New for Subscriptions.
func NewSubscriptionCatalog(
	client versioned.Interface, clk clock.WithTicker, patience time.Duration, onChange func(before, after *Subscriptions),
) (*SubscriptionCatalog, error) {
	c := &SubscriptionCatalog{newBoard("Subscriptions", clk, patience, onChange)}
	subscriptions := client.BerthV1alpha1().Subscriptions(metav1.NamespaceAll)
	s, err := newSource("Subscription", listWatch(subscriptions), &berthv1alpha1.Subscription{}, clk, divisionChanged, c.markDirty)
	if err != nil {
		return nil, fmt.Errorf("preparing the watch of Subscriptions: %w", err)
	}
	c.sources = []*source{s}
	c.build = func(*Subscriptions) *Subscriptions {
		return buildSubscriptions(typed[*berthv1alpha1.Subscription](s))
	}
	return c, nil
}

func buildSubscriptions(list []*berthv1alpha1.Subscription) *Subscriptions {
	built := &Subscriptions{
		Index: subscription.NewIndex(list), byName: make(map[types.NamespacedName]*berthv1alpha1.Subscription, len(list)),
	}
	for _, object := range list {
		built.byName[types.NamespacedName{Namespace: object.Namespace, Name: object.Name}] = object
	}
	return built
}

// divisionChanged tells a change of what a Subscription wants or how it is divided from a mere
// change of conditions.
func divisionChanged(oldObj, newObj any) bool {
	before, okBefore := oldObj.(*berthv1alpha1.Subscription)
	after, okAfter := newObj.(*berthv1alpha1.Subscription)
	return !okBefore || !okAfter || specChanged(oldObj, newObj) ||
		before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
		!equality.Semantic.DeepEqual(before.Status.Feeds, after.Status.Feeds) ||
		!equality.Semantic.DeepEqual(before.Status.HelmReleases, after.Status.HelmReleases) ||
		!equality.Semantic.DeepEqual(before.Status.Pledge, after.Status.Pledge)
}

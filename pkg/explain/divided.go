// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/explain/placement"
	"berth.dev/berth/pkg/placement/subscription"
)

// SubscriptionAnswer tells how a Subscription divides its feeds, and which clusters it has left.
// The names of its fields are a promise to programs.
type SubscriptionAnswer struct {
	Subscription string `json:"subscription"`
	Namespace    string `json:"namespace"`
	// Strategy is Replication, Static, Spread or Binpack.
	Strategy   string      `json:"strategy"`
	Conditions []Condition `json:"conditions"`

	Feeds []berthv1alpha1.FeedPlacement `json:"feeds"`
	// FailedOver are the clusters that were left because they were offline.
	FailedOver []LeftCluster `json:"failedOver"`
}

// Subscription tells what the status of a Subscription says, and when the clusters that it has left
// come into question again. If unseen is not empty, it says why nothing is known of clusters.
func Subscription(s *berthv1alpha1.Subscription, clusters []berthv1alpha1.Cluster, unseen string) *SubscriptionAnswer {
	return &SubscriptionAnswer{
		Subscription: s.Name, Namespace: s.Namespace, Strategy: string(subscription.StrategyOf(&s.Spec)),
		Conditions: conditionsOf(s.Status.Conditions), Feeds: append([]berthv1alpha1.FeedPlacement{}, s.Status.Feeds...),
		FailedOver: LeftClusters(s.Spec.Failover, s.Status.FailedOver, clusters, unseen),
	}
}

// conditionsOf returns what the conditions of an object say.
func conditionsOf(all []metav1.Condition) []Condition {
	told := make([]Condition, len(all))
	for i := range all {
		told[i] = Condition{all[i].Type, string(all[i].Status), all[i].Reason, all[i].Message}
	}
	return told
}

// FeedTitle names a feed, as kubectl would, or a Helm release that has no object.
func FeedTitle(f *berthv1alpha1.Feed) string {
	if f.Kind == "" {
		return f.Describe()
	}
	return placement.Title(f.Kind, f.Name)
}

// FeedShares says how many replicas of a feed each cluster has, empty if none has any.
func FeedShares(f *berthv1alpha1.FeedPlacement) string {
	shares := make([]string, len(f.Clusters))
	for i := range f.Clusters {
		shares[i] = fmt.Sprintf("%s %d", f.Clusters[i].Name, f.Clusters[i].Replicas)
	}
	return strings.Join(shares, ", ")
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/explain/placement"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/names"
	"berth.dev/berth/pkg/placement/subscription"
)

// SubscriptionInfo is the Subscription that lists the workload of a pod.
type SubscriptionInfo struct {
	Name string `json:"name"`
	// Held is BundleWaits or NotDivided while the Subscription holds the pod back, absent otherwise.
	Held string `json:"held,omitempty"`
	// Message is what the Subscription says, absent if nothing.
	Message string `json:"message,omitempty"`
}

// explainSubscription tells which Subscription places the workload, and whether it holds the pod
// back. A pod that asks for another policy, or for none, is none of its business.
func (e *PodAnswer) explainSubscription(s *placement.State, pod *corev1.Pod, w *workload.Workload) (held bool) {
	if e.State != waiting || pod.Annotations[berthv1alpha1.PolicyAnnotation] != "" {
		return false
	}
	all := make([]*berthv1alpha1.Subscription, len(s.Objects.Subscriptions))
	for i := range s.Objects.Subscriptions {
		all[i] = &s.Objects.Subscriptions[i]
	}
	owner, i := subscription.NewIndex(all).Of(pod.Namespace, w.APIVersion, w.Kind, w.Name)
	if owner == nil {
		return false
	}
	feed := &owner.Spec.Feeds[i]
	hold := subscription.HoldOf(owner, feed, e.Workload.Replicas, func(policy string) bool {
		return s.Objects.Policy(pod.Namespace, policy) != nil
	})
	e.Subscription = &SubscriptionInfo{Name: owner.Name, Held: string(hold), Message: saidOf(owner, feed)}
	e.explainHold(hold)
	return hold != subscription.NotHeld
}

func (e *PodAnswer) explainHold(hold subscription.Hold) {
	name, said := e.Subscription.Name, e.Subscription.Message
	if hold == subscription.NotHeld {
		if said != "" {
			e.becausef("Subscription %q, which places it, says: %s", name, said)
		}
		return
	}
	if hold == subscription.BundleWaits {
		e.becausef("Subscription %q holds it back: no pod of the bundle starts before all its feeds fit at once", name)
	} else {
		e.becausef("Subscription %q holds it back until it has been divided for %s", name, replicasText(e.Workload.Replicas))
	}
	if said == "" {
		said = "see whether berth-controller-manager is running"
	}
	e.becausef("the Subscription says: %s", said)
}

func replicasText(replicas *int32) string {
	if replicas == nil {
		return "its replicas"
	}
	return "its " + names.Count(int(*replicas), "replica")
}

// saidOf returns what a Subscription says about a feed, else about itself if something is not
// placed.
func saidOf(s *berthv1alpha1.Subscription, feed *berthv1alpha1.Feed) string {
	if told := subscription.PlacementOf(s, feed); told != nil && told.Message != "" {
		return told.Message
	}
	if apimeta.IsStatusConditionFalse(s.Status.Conditions, berthv1alpha1.SubscriptionScheduled) {
		return apimeta.FindStatusCondition(s.Status.Conditions, berthv1alpha1.SubscriptionScheduled).Message
	}
	return ""
}

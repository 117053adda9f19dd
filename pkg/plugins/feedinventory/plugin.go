// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package feedinventory is the scheduler plugin that holds the pods of feeds back until their
// Subscription has been divided. The PropagationPolicies of the Subscription say where they may go
// then, and NodeGroupPolicy carries those out. Package placement/bundle decides how replicas are
// divided, and the controller of Subscriptions when.
package feedinventory

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/subscription"
	"berth.dev/berth/pkg/plugins/internal/catalog"
	"berth.dev/berth/pkg/plugins/internal/guard"
	"berth.dev/berth/pkg/plugins/internal/takeover"
)

// Name is the name of the plugin in a KubeSchedulerConfiguration.
const Name = "FeedInventory"

const (
	// errReasonNotRead holds pods back until Subscriptions have been read for the first time.
	errReasonNotRead = "Subscriptions have not been read yet"

	// errReasonOwnerNotFound holds pods back whose controller is not known, so that nobody can tell
	// whether they are of a feed.
	errReasonOwnerNotFound = "the owner of the pod does not exist or is not known yet, and with it whether it is a feed"

	// errReasonNotDivided holds pods back whose Subscription has not been divided, or not for as
	// many replicas as there are now.
	errReasonNotDivided = "the Subscription of the pod has not been divided for its replicas yet"

	// errReasonBundleWaits holds the pods of a bundle back until all of it fits.
	errReasonBundleWaits = "the bundle of the pod waits until all its feeds fit, see the condition Scheduled of the Subscription"
)

// The answers are made once: the framework only reads them.
var (
	notRead       = blockedBy(errReasonNotRead)
	ownerNotFound = blockedBy(errReasonOwnerNotFound)
	notDivided    = blockedBy(errReasonNotDivided)
	bundleWaits   = blockedBy(errReasonBundleWaits)
)

func blockedBy(reason string) *fwk.Status {
	return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, reason)
}

// Shared is what the instances of the plugin, one for each profile, have in common.
type Shared struct {
	// Subscriptions knows all Subscriptions, Policies all PropagationPolicies.
	Subscriptions *catalog.SubscriptionCatalog
	Policies      *catalog.Catalog
	// Owners finds the workload of a pod.
	Owners workload.Source
	// Early lets pods into the queue while that is being filled.
	Early *takeover.Early
}

// FeedInventory is a plugin that holds pods back until their Subscription has been divided.
type FeedInventory struct {
	shared *Shared
}

var (
	_ fwk.PreEnqueuePlugin  = &FeedInventory{}
	_ fwk.EnqueueExtensions = &FeedInventory{}
	_ fwk.SignPlugin        = &FeedInventory{}
)

// New returns the plugin for one profile.
func New(shared *Shared) *FeedInventory {
	return &FeedInventory{shared: shared}
}

// Name returns the name of the plugin.
func (*FeedInventory) Name() string {
	return Name
}

// SignPod has nothing to add: the plugin does not care where a pod goes.
func (*FeedInventory) SignPod(context.Context, *corev1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	return nil, nil
}

// PreEnqueue holds the pods of feeds back. If Subscriptions cannot be read at all pods pass: the
// policies that have been written hold all the same, and nothing else must wait.
func (p *FeedInventory) PreEnqueue(ctx context.Context, pod *corev1.Pod) (status *fwk.Status) {
	defer guard.Rescue(ctx, Name, "PreEnqueue", &status)
	snapshot := p.shared.Subscriptions.Snapshot()
	switch {
	case p.shared.Early.Lets(pod):
		return nil
	case snapshot == nil && p.shared.Subscriptions.Unreadable() == nil:
		return notRead
	case snapshot == nil, !snapshot.Index.Any(pod.Namespace):
		return nil
	case pod.Annotations[berthv1alpha1.PolicyAnnotation] != "":
		return nil // It asks for another policy, or for none.
	}
	w, err := workload.Of(pod, p.shared.Owners)
	if err != nil {
		return ownerNotFound // The owner wakes it when it comes.
	}
	s, feed := snapshot.Index.Of(pod.Namespace, w.APIVersion, w.Kind, w.Name)
	if s == nil {
		if p.shared.ofRelease(pod, &w, snapshot.Index.ListsRelease) {
			return notDivided // The Subscription has not taken note of the object yet.
		}
		return nil
	}
	return p.blocked(s, &s.Spec.Feeds[feed], &w)
}

// ofRelease reports whether the object of a workload is part of a Helm release that is listed.
func (s *Shared) ofRelease(pod *corev1.Pod, w *workload.Workload, listed func(metav1.Object) bool) bool {
	if w.UID == pod.UID {
		return listed(pod)
	}
	kind := workload.KindFor(w.APIVersion, w.Kind)
	if kind == nil {
		return false // Nobody says that it will be divided.
	}
	object, err := s.Owners.Owner(kind, w.Namespace, w.Name)
	return err == nil && listed(object)
}

// blocked returns what keeps the pods of a feed from being scheduled, nil if nothing does.
func (p *FeedInventory) blocked(s *berthv1alpha1.Subscription, feed *berthv1alpha1.Feed, w *workload.Workload) *fwk.Status {
	policies := p.shared.Policies.Snapshot()
	exists := func(policy string) bool { return policies != nil && policies.Policy(s.Namespace, policy) != nil }
	switch subscription.HoldOf(s, feed, w.KnownReplicas(), exists) {
	case subscription.BundleWaits:
		return bundleWaits
	case subscription.NotDivided:
		return notDivided
	case subscription.NotHeld:
	}
	return nil
}

// EventsToRegister names what can help a pod that is held back. Changes of Subscriptions, policies
// and owners are not among them: those wake the pods they concern directly, see Concerned.
func (p *FeedInventory) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{{
		// No narrower event tells that a waiting pod asks for another policy.
		Event:          fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Update},
		QueueingHintFn: guard.Hint(Name, p.isSchedulableAfterPodChange),
	}}, nil
}

// isSchedulableAfterPodChange wakes the pod when it asks for another policy.
func (p *FeedInventory) isSchedulableAfterPodChange(_ klog.Logger, pod, before, after *corev1.Pod) fwk.QueueingHint {
	if before == nil || after == nil || after.UID != pod.UID ||
		before.Annotations[berthv1alpha1.PolicyAnnotation] == after.Annotations[berthv1alpha1.PolicyAnnotation] {
		return fwk.QueueSkip
	}
	return fwk.Queue
}

// Concerned returns those of the pods, which wait in one namespace, whose workload one of the
// Subscriptions lists, or is part of a Helm release.
func (s *Shared) Concerned(changed []*berthv1alpha1.Subscription, pods []*corev1.Pod) []*corev1.Pod {
	var concerned []*corev1.Pod
	for _, pod := range pods {
		w, err := workload.Of(pod, s.Owners)
		if err != nil {
			continue // The owner wakes it when it comes.
		}
		if s.ofRelease(pod, &w, func(o metav1.Object) bool { return subscription.ReleaseOf(o) != "" }) {
			concerned = append(concerned, pod) // Its release may have come to the Subscription, or left it.
			continue
		}
		for _, c := range changed {
			if subscription.Lists(c, w.APIVersion, w.Kind, w.Name) {
				concerned = append(concerned, pod)
				break
			}
		}
	}
	return concerned
}

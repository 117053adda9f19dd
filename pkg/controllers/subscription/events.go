// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// Reasons and actions of the events about Subscriptions. A condition that changes its reason makes
// an event of that reason.
const (
	reasonAdmitted    = "BundleAdmitted"
	reasonWithdrawn   = "AdmissionWithdrawn"
	reasonRebalancing = "RebalanceAsked"

	actionDivide = "Divide"
)

// maxNote bounds the text of an event; the API server allows 1024 bytes.
const maxNote = 1000

// recordEvents makes events of what has changed in the status that was written. A condition whose
// message alone has changed makes none, so there are as many events as there are changes of state.
func (r *Reconciler) recordEvents(before, after *berthv1alpha1.Subscription) {
	if r.Recorder == nil {
		return
	}
	for _, kind := range []string{berthv1alpha1.SubscriptionScheduled, berthv1alpha1.SubscriptionDegraded} {
		r.recordCondition(kind, before, after)
	}
	admitted, was := after.Status.Pledge != nil, before.Status.Pledge != nil
	switch {
	case admitted && !was:
		r.event(after, corev1.EventTypeNormal, reasonAdmitted, "all feeds of the bundle fit at once: their pods may start")
	case was && !admitted:
		r.event(after, corev1.EventTypeWarning, reasonWithdrawn, "the bundle waits again: no pod of it had a node in time, or it is no bundle any more")
	}
	if asked := after.Status.ObservedRebalance; asked != "" && asked != before.Status.ObservedRebalance {
		r.event(after, corev1.EventTypeNormal, reasonRebalancing, "the feeds are divided anew, as the annotation "+berthv1alpha1.RebalanceAnnotation+" asks")
	}
}

func (r *Reconciler) recordCondition(kind string, before, after *berthv1alpha1.Subscription) {
	old, c := apimeta.FindStatusCondition(before.Status.Conditions, kind), apimeta.FindStatusCondition(after.Status.Conditions, kind)
	if c == nil || old != nil && old.Reason == c.Reason || old == nil && c.Reason == berthv1alpha1.ReasonPlacesKept {
		return
	}
	eventType := corev1.EventTypeWarning
	switch c.Reason {
	case berthv1alpha1.ReasonAllPlaced, berthv1alpha1.ReasonPlacesKept, berthv1alpha1.ReasonBundleWaits:
		eventType = corev1.EventTypeNormal
	}
	r.event(after, eventType, c.Reason, c.Message)
}

func (r *Reconciler) event(s *berthv1alpha1.Subscription, eventType, reason, note string) {
	if len(note) > maxNote {
		note = strings.ToValidUTF8(note[:maxNote], "")
	}
	r.Recorder.Eventf(s, nil, eventType, reason, actionDivide, "%s", note)
}

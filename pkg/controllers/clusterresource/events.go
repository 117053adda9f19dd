// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// maxNote bounds the text of an event; the API server allows 1024 bytes.
const maxNote = 1000

// Actions of the events about ClusterResources.
const (
	actionAccount = "Account"
	actionDelete  = "Delete"
	actionPublish = "Publish"
)

// recordEvents makes an event of each condition that has turned bad, and one when pods hold no more
// than is allocatable again.
func (r *Reconciler) recordEvents(before, after *berthv1alpha1.ClusterResource) {
	for _, c := range after.Status.Conditions {
		old := apimeta.FindStatusCondition(before.Status.Conditions, c.Type)
		changed := old == nil || old.Status != c.Status || old.Reason != c.Reason
		switch {
		case !changed:
		case c.Reason == berthv1alpha1.ReasonInvalidPools:
			r.event(after, corev1.EventTypeWarning, actionPublish, c)
		case c.Reason == berthv1alpha1.ReasonAboveAllocatable:
			r.event(after, corev1.EventTypeWarning, actionAccount, c)
		case c.Reason == berthv1alpha1.ReasonWithinAllocatable && old != nil:
			r.event(after, corev1.EventTypeNormal, actionAccount, c)
		case c.Reason == berthv1alpha1.ReasonHeldByPods:
			r.event(after, corev1.EventTypeNormal, actionDelete, c)
		}
	}
}

func (r *Reconciler) event(object *berthv1alpha1.ClusterResource, eventType, action string, c metav1.Condition) {
	note := c.Message
	if len(note) > maxNote {
		note = strings.ToValidUTF8(note[:maxNote], "")
	}
	r.Recorder.Eventf(object, nil, eventType, c.Reason, action, "%s", note)
}

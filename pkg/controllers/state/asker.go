// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package state

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/history"
)

// Asker returns who asks for what is done for a policy: the Application or Subscription that made
// it, or else the policy itself.
func Asker(policy *berthv1alpha1.PropagationPolicy) *history.Object {
	if owner := metav1.GetControllerOf(policy); owner != nil {
		return history.Named(owner.APIVersion, owner.Kind, policy.Namespace, owner.Name, owner.UID)
	}
	return Berths("PropagationPolicy", policy)
}

// Berths names an object of one of Berth's kinds.
func Berths(kind string, object metav1.Object) *history.Object {
	return history.Named(berthv1alpha1.SchemeGroupVersion.String(), kind, object.GetNamespace(), object.GetName(), object.GetUID())
}

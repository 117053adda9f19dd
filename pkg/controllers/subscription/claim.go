// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/division"
	"berth.dev/berth/pkg/placement/subscription"
)

// policyConflict returns why a Subscription may not write a policy that has the name of the one for
// a feed, empty if it may: there is none, it is the controller, or nobody is and the policy is
// about the feed and nothing else. The latter is one whose owner somebody has removed.
func policyConflict(policy *berthv1alpha1.PropagationPolicy, s *berthv1alpha1.Subscription, ref *berthv1alpha1.Feed) string {
	if policy == nil {
		return ""
	}
	if controller := metav1.GetControllerOfNoCopy(policy); controller != nil {
		if controller.UID == s.UID || controller.Kind == subscriptionKind && controller.Name == s.Name {
			return ""
		}
		return fmt.Sprintf("there is a policy %s already that belongs to %s %s: remove its owner reference or the policy",
			policy.Name, controller.Kind, controller.Name)
	}
	if apiequality.Semantic.DeepEqual(policy.Spec.ResourceSelectors, division.SelectorsOf(ref)) {
		return ""
	}
	return fmt.Sprintf("there is a policy %s already that is about something else: remove it", policy.Name)
}

// copyConflict returns why a copy cannot be written, empty if it can: something else has its name,
// or that of its policy.
func (o *outcome) copyConflict(c *copied) string {
	key := objectOf(&c.ref)
	present := o.copyAt(key)
	if present == nil && o.around.known[key] != nil || present != nil && clusterOf(present) != c.cluster {
		return noCopy(c, o.around.owner(key))
	}
	return policyConflict(o.named[subscription.PolicyName(o.object.Name, &c.ref)], o.object, &c.ref)
}

// noCopy is why a copy cannot be written where something else, of which the controller may be nil,
// has its name. What is a copy says the selector, which cannot be changed.
func noCopy(c *copied, controller *metav1.OwnerReference) string {
	text := fmt.Sprintf("there is a %s %s already that is no copy of it", c.ref.Kind, c.ref.Name)
	if controller != nil {
		text += fmt.Sprintf(" and belongs to %s %s", controller.Kind, controller.Name)
	}
	return text + ": delete it if the copy is to take its place"
}

// owner returns the controller of an object of the namespace, nil if it has none.
func (s *surroundings) owner(key object) *metav1.OwnerReference {
	present := s.owners[key]
	if present == nil {
		return nil
	}
	return metav1.GetControllerOfNoCopy(present)
}

// checkCopy returns an error unless an object as the API server has it is the copy that it should
// be.
func (o *outcome) checkCopy(live *unstructured.Unstructured, c *copied) error {
	controller := metav1.GetControllerOfNoCopy(live)
	serves, _, _ := unstructured.NestedString(live.Object, "spec", "selector", "matchLabels", berthv1alpha1.CopyClusterLabel)
	if serves == c.cluster && (controller == nil || controller.UID == o.object.UID) {
		return nil
	}
	return fmt.Errorf("%s/%s: %s", o.object.Namespace, o.object.Name, noCopy(c, controller))
}

// preconditions let a deletion succeed only for an object as it was read.
func preconditions(present client.Object) client.Preconditions {
	uid, version := present.GetUID(), present.GetResourceVersion()
	return client.Preconditions{UID: &uid, ResourceVersion: &version}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	modelpolicy "berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/placement/policymatch"
)

// spread writes the policies by which ClusterPropagationPolicies are carried out in namespaces, and
// removes those that none asks for any more. A namespace that nobody has described has no labels
// but its name.
func (s *Simulation) spread(context.Context) error {
	objects := kept[*berthv1alpha1.ClusterPropagationPolicy](s)
	known := s.namespaces()
	wanted := map[id]bool{}
	for _, object := range objects {
		selector, err := modelpolicy.Namespaces(object)
		if err != nil {
			return fmt.Errorf("ClusterPropagationPolicy %s: %w", object.Name, err)
		}
		for _, namespace := range slices.Sorted(maps.Keys(known)) {
			policy := modelpolicy.InNamespace(object, namespace)
			if policy == nil || !selector.Matches(known[namespace]) {
				continue
			}
			_, identity, err := identify(policy)
			if err != nil {
				return err
			}
			wanted[identity] = true
			if err := s.keepPolicy(policy, object); err != nil {
				return err
			}
		}
	}
	return s.dropPolicies(wanted)
}

// dropPolicies removes the policies of ClusterPropagationPolicies that are not among the wanted.
func (s *Simulation) dropPolicies(wanted map[id]bool) error {
	for _, policy := range kept[*berthv1alpha1.PropagationPolicy](s) {
		_, identity, err := identify(policy)
		if err != nil {
			return err
		}
		owner := metav1.GetControllerOfNoCopy(policy)
		if owner == nil || owner.Kind != policymatch.ClusterWide || wanted[identity] {
			continue
		}
		if err := s.remove(policy); err != nil {
			return err
		}
	}
	return nil
}

// keepPolicy stores a policy, unless it is there already or one of that name is not of the object.
func (s *Simulation) keepPolicy(policy *berthv1alpha1.PropagationPolicy, object *berthv1alpha1.ClusterPropagationPolicy) error {
	before := s.policyNamed(policy.Namespace, policy.Name)
	if before == nil {
		policy.Generation = 1
		policy.UID = uidOf(id{berthv1alpha1.SchemeGroupVersion.WithKind("PropagationPolicy").GroupKind(), keyOf(policy)})
		return s.replace(policy)
	}
	if !metav1.IsControlledBy(before, object) || apiequality.Semantic.DeepEqual(before.Spec, policy.Spec) {
		return nil
	}
	after := before.DeepCopy()
	after.Spec = policy.Spec
	after.Generation++
	return s.replace(after)
}

// namespaces returns the labels of the namespaces that have been described or have workloads.
func (s *Simulation) namespaces() map[string]labels.Set {
	known := map[string]labels.Set{}
	for i := range s.objects {
		if i.Namespace != "" && known[i.Namespace] == nil {
			known[i.Namespace] = labels.Set{corev1.LabelMetadataName: i.Namespace}
		}
	}
	for _, namespace := range kept[*corev1.Namespace](s) {
		own := labels.Set{corev1.LabelMetadataName: namespace.Name}
		maps.Copy(own, namespace.Labels)
		known[namespace.Name] = own
	}
	return known
}

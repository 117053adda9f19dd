// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/policymatch"
)

// Namespaces returns what selects the namespaces of a ClusterPropagationPolicy.
func Namespaces(object *berthv1alpha1.ClusterPropagationPolicy) (labels.Selector, error) {
	if object.Spec.NamespaceSelector == nil {
		return labels.Everything(), nil
	}
	selector, err := metav1.LabelSelectorAsSelector(object.Spec.NamespaceSelector)
	if err != nil {
		return nil, fmt.Errorf("spec.namespaceSelector: %w", err)
	}
	return selector, nil
}

// NameInNamespaces returns the name of the PropagationPolicies by which the
// ClusterPropagationPolicy of a name is carried out.
func NameInNamespaces(name string) string { return prefixInNamespaces + name }

// NameClusterwide returns the name of the ClusterPropagationPolicy that is carried out by
// PropagationPolicies of a name, and reports whether there can be one.
func NameClusterwide(name string) (clusterwide string, ok bool) {
	return strings.CutPrefix(name, prefixInNamespaces)
}

const prefixInNamespaces = "cluster-"

// InNamespace returns the PropagationPolicy by which a ClusterPropagationPolicy is carried out in a
// namespace, nil if none of its selectors is about that one.
func InNamespace(object *berthv1alpha1.ClusterPropagationPolicy, namespace string) *berthv1alpha1.PropagationPolicy {
	spec := *object.Spec.PropagationPolicySpec.DeepCopy()
	spec.ResourceSelectors = nil
	for _, selector := range object.Spec.ResourceSelectors {
		if selector.Namespace == "" || selector.Namespace == namespace {
			spec.ResourceSelectors = append(spec.ResourceSelectors, selector)
		}
	}
	if len(spec.ResourceSelectors) == 0 {
		return nil
	}
	return &berthv1alpha1.PropagationPolicy{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: NameInNamespaces(object.Name),
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: berthv1alpha1.SchemeGroupVersion.String(), Kind: policymatch.ClusterWide,
				Name: object.Name, UID: object.UID, Controller: new(true),
			}},
		},
		Spec: spec,
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"context"
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/migrate"
)

// policyKey refers to a policy as to an object of the Application.
func policyKey(name string) berthv1alpha1.ApplicationObject {
	return berthv1alpha1.ApplicationObject{
		APIVersion: berthv1alpha1.SchemeGroupVersion.String(), Kind: "PropagationPolicy", Name: name,
	}
}

// writePolicy brings the policy of an object up to date. Known is the policy as it is, nil if there
// is none.
func (w *writer) writePolicy(ctx context.Context, o *object, known *berthv1alpha1.PropagationPolicy, step migrate.Step) error {
	mode := berthv1alpha1.RebalanceEvict
	if step.Held {
		mode = berthv1alpha1.RebalanceNever // Replicas go when the workload shrinks.
	}
	selectors := []berthv1alpha1.ResourceSelector{{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Name: o.GetName()}}
	if known != nil && apiequality.Semantic.DeepEqual(known.Spec.Placement.StaticWeightList, step.Policy) &&
		known.Spec.Rebalance.Mode == mode && apiequality.Semantic.DeepEqual(known.Spec.ResourceSelectors, selectors) &&
		known.Spec.Placement.WhenUnsatisfiable != berthv1alpha1.ScheduleAnyway && known.Spec.Placement.Constraints == nil {
		return nil
	}
	policy := &berthv1alpha1.PropagationPolicy{
		TypeMeta: metav1.TypeMeta{APIVersion: berthv1alpha1.SchemeGroupVersion.String(), Kind: "PropagationPolicy"},
		ObjectMeta: metav1.ObjectMeta{
			Name: o.policy, Namespace: w.app.Namespace, OwnerReferences: []metav1.OwnerReference{ownerReference(w.app)},
			Labels: map[string]string{berthv1alpha1.ApplicationLabel: labelOf(w.app.Name)},
		},
		Spec: berthv1alpha1.PropagationPolicySpec{
			ResourceSelectors: selectors,
			Placement:         berthv1alpha1.Placement{StaticWeightList: step.Policy, WhenUnsatisfiable: berthv1alpha1.DoNotSchedule},
			Rebalance:         berthv1alpha1.Rebalance{Mode: mode},
		},
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(policy)
	if err != nil {
		return fmt.Errorf("encoding policy %s: %w", o.policy, err)
	}
	u := &object{Unstructured: &unstructured.Unstructured{Object: content}}
	unstructured.RemoveNestedField(content, "status")
	unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
	return w.send(ctx, u)
}

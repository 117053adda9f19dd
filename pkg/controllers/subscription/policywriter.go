// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/division"
	"berth.dev/berth/pkg/placement/divide"
	"berth.dev/berth/pkg/placement/subscription"
)

// policiesOf returns the policies of a namespace by name: all of them, and those of each
// controller.
func (r *Reconciler) policiesOf(
	ctx context.Context, namespace string,
) (all map[string]*berthv1alpha1.PropagationPolicy, owned map[types.UID]map[string]*berthv1alpha1.PropagationPolicy, err error) {
	var list berthv1alpha1.PropagationPolicyList
	if err := r.Client.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, nil, fmt.Errorf("listing the policies of namespace %s: %w", namespace, err)
	}
	all, owned = map[string]*berthv1alpha1.PropagationPolicy{}, map[types.UID]map[string]*berthv1alpha1.PropagationPolicy{}
	for i := range list.Items {
		policy := &list.Items[i]
		all[policy.Name] = policy
		owner := metav1.GetControllerOfNoCopy(policy)
		if owner == nil {
			continue
		}
		if owned[owner.UID] == nil {
			owned[owner.UID] = map[string]*berthv1alpha1.PropagationPolicy{}
		}
		owned[owner.UID][policy.Name] = policy
	}
	return all, owned, nil
}

// writePolicies makes the policies of a Subscription what they should be, and removes those of
// feeds that are none any more.
func (r *Reconciler) writePolicies(ctx context.Context, o *outcome) error {
	wanted := map[string]bool{}
	var failures []error
	for i := range o.feeds {
		name := subscription.PolicyName(o.object.Name, o.feeds[i].ref)
		policy, keep := o.policyOf(i)
		if keep {
			wanted[name] = true
		}
		if policy != nil {
			failures = append(failures, r.writePolicy(ctx, o.named[name], policy))
		}
	}
	for _, c := range o.wantedCopies() {
		if o.copyConflict(&c) != "" {
			continue
		}
		policy := division.NewPolicy(o.object, &c.ref, division.OneOf(c.cluster), division.AnyNumber)
		wanted[policy.Name] = true
		failures = append(failures, r.writePolicy(ctx, o.named[policy.Name], policy))
	}
	for _, name := range slices.Sorted(maps.Keys(o.policies)) {
		policy := o.policies[name]
		if wanted[name] || policy.DeletionTimestamp != nil || o.input.Strategy == divide.Replication && o.decision.Problem != nil {
			continue
		}
		r.requests++
		err := r.Client.Delete(ctx, policy, preconditions(policy))
		if client.IgnoreNotFound(err) != nil {
			failures = append(failures, fmt.Errorf("deleting policy %s/%s: %w", policy.Namespace, policy.Name, err))
		}
	}
	return firstOf(failures)
}

// firstOf returns a failure that is not a mere conflict, a conflict if there is no other, nil if
// there is none.
func firstOf(failures []error) error {
	var conflict error
	var others []error
	for _, err := range failures {
		switch {
		case err == nil:
		case apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err):
			conflict = err
		default:
			others = append(others, err)
		}
	}
	if len(others) > 0 {
		return errors.Join(others...)
	}
	return conflict
}

// writePolicy creates or changes a policy. What users have set beside what is divided stays.
func (r *Reconciler) writePolicy(ctx context.Context, existing, policy *berthv1alpha1.PropagationPolicy) error {
	if existing == nil {
		r.requests++
		if err := r.Client.Create(ctx, policy); err != nil {
			return fmt.Errorf("creating policy %s/%s: %w", policy.Namespace, policy.Name, err)
		}
		return nil
	}
	after := existing.DeepCopy()
	after.OwnerReferences = withController(existing.OwnerReferences, policy.OwnerReferences[0])
	if after.Annotations == nil {
		after.Annotations = map[string]string{}
	}
	maps.Copy(after.Annotations, policy.Annotations)
	after.Spec.ResourceSelectors = policy.Spec.ResourceSelectors
	after.Spec.Placement.StaticWeightList = policy.Spec.Placement.StaticWeightList
	switch {
	case policy.Spec.Rebalance.Mode != "":
		after.Spec.Rebalance.Mode = policy.Spec.Rebalance.Mode
	case division.SetsMode(existing) && existing.Annotations[berthv1alpha1.DividedAnnotation] != division.AnyNumber &&
		policy.Annotations[berthv1alpha1.DividedAnnotation] == division.AnyNumber:
		after.Spec.Rebalance.Mode = "" // It was for dividing by room.
	}
	if apiequality.Semantic.DeepEqual(existing.Spec, after.Spec) && maps.Equal(existing.Annotations, after.Annotations) &&
		apiequality.Semantic.DeepEqual(existing.OwnerReferences, after.OwnerReferences) {
		return nil
	}
	r.requests++
	if err := r.Client.Update(ctx, after); err != nil {
		return fmt.Errorf("updating policy %s/%s: %w", policy.Namespace, policy.Name, err)
	}
	return nil
}

// withController returns references in which the controller is the given one. Other owners stay.
func withController(references []metav1.OwnerReference, controller metav1.OwnerReference) []metav1.OwnerReference {
	list := []metav1.OwnerReference{controller}
	for _, other := range references {
		if other.UID != controller.UID && (other.Controller == nil || !*other.Controller) {
			list = append(list, other)
		}
	}
	return list
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/divide"
	"berth.dev/berth/pkg/placement/subscription"
)

// anyNumber is what DividedAnnotation holds for policies that serve any number of replicas.
const anyNumber = "*"

// policiesOf returns the policies of a Subscription, and all policies of its namespace, by name.
func (r *Reconciler) policiesOf(
	ctx context.Context, s *berthv1alpha1.Subscription,
) (own, all map[string]*berthv1alpha1.PropagationPolicy, err error) {
	var list berthv1alpha1.PropagationPolicyList
	if err := r.Client.List(ctx, &list, client.InNamespace(s.Namespace)); err != nil {
		return nil, nil, fmt.Errorf("listing the policies of namespace %s: %w", s.Namespace, err)
	}
	own, all = map[string]*berthv1alpha1.PropagationPolicy{}, map[string]*berthv1alpha1.PropagationPolicy{}
	for i := range list.Items {
		policy := &list.Items[i]
		all[policy.Name] = policy
		if metav1.IsControlledBy(policy, s) {
			own[policy.Name] = policy
		}
	}
	return own, all, nil
}

// writePolicies makes the policies of a Subscription what they should be, and removes those of feeds that are none any more.
func (r *Reconciler) writePolicies(ctx context.Context, m *member) error {
	wanted := map[string]bool{}
	var failures []error
	for _, f := range m.feeds {
		name := subscription.PolicyName(m.object.Name, f.ref)
		policy, keep := m.policyOf(f)
		if keep {
			wanted[name] = true
		}
		if policy == nil {
			continue
		}
		failures = append(failures, r.writePolicy(ctx, m.named[name], policy))
	}
	for i := range m.copies {
		c := &m.copies[i]
		policy := m.newPolicy(&c.ref, oneOf(c.cluster), anyNumber)
		wanted[policy.Name] = true
		failures = append(failures, r.writePolicy(ctx, m.named[policy.Name], policy))
	}
	for _, name := range slices.Sorted(maps.Keys(m.policies)) {
		policy := m.policies[name]
		if wanted[name] || policy.DeletionTimestamp != nil || m.strategy == divide.Replication && m.problem != nil {
			continue
		}
		err := r.Client.Delete(ctx, policy, client.Preconditions{UID: &policy.UID})
		if client.IgnoreNotFound(err) != nil {
			failures = append(failures, fmt.Errorf("deleting policy %s/%s: %w", policy.Namespace, policy.Name, err))
		}
	}
	return firstOf(failures)
}

// firstOf returns a failure that is not a mere conflict, a conflict if there is no other, nil if there is none.
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

// policyOf returns the policy that a feed should have, nil if none is to be written, and whether one that exists is to stay.
func (m *member) policyOf(f *feed) (policy *berthv1alpha1.PropagationPolicy, keep bool) {
	switch {
	case f.lost != "":
		return nil, false
	case f.unknown != "":
		return nil, f.shares != nil
	case !m.admitted():
		return nil, sum(f.held) > 0
	case m.problem != nil:
		return nil, true
	case f.wanted == nil && (m.dynamic() || podless(f.ref)):
		return nil, false
	}
	var weights []berthv1alpha1.StaticClusterWeight
	divided := anyNumber
	switch m.strategy {
	case divide.Static:
		weights = m.weights()
	case divide.Replication:
		weights = oneOf(m.home(f))
	default:
		weights, divided = m.seats(f.shares), strconv.FormatInt(*f.wanted, 10)
	}
	policy = m.newPolicy(f.ref, weights, divided)
	if m.dynamic() && setsMode(policy) {
		// The ordinal is the seat, and the order of the seats depends on all shares: with another share ordinals would move that
		// run where there is a place for as many.
		policy.Spec.Rebalance.Mode = berthv1alpha1.RebalanceNever
	}
	return policy, true
}

// setsMode says whether Berth sets the mode of a policy while it divides by room: that of a StatefulSet.
func setsMode(policy *berthv1alpha1.PropagationPolicy) bool {
	selectors := policy.Spec.ResourceSelectors
	return len(selectors) == 1 && selectors[0].Kind == "StatefulSet"
}

func (m *member) newPolicy(
	ref *berthv1alpha1.Feed, weights []berthv1alpha1.StaticClusterWeight, divided string,
) *berthv1alpha1.PropagationPolicy {
	return &berthv1alpha1.PropagationPolicy{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: m.object.Namespace, Name: subscription.PolicyName(m.object.Name, ref),
			Annotations:     map[string]string{berthv1alpha1.DividedAnnotation: divided},
			OwnerReferences: []metav1.OwnerReference{ownerOf(m.object)},
		},
		Spec: berthv1alpha1.PropagationPolicySpec{
			ResourceSelectors: []berthv1alpha1.ResourceSelector{{APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name}},
			Placement:         berthv1alpha1.Placement{StaticWeightList: weights},
		},
	}
}

func oneOf(cluster string) []berthv1alpha1.StaticClusterWeight {
	return []berthv1alpha1.StaticClusterWeight{{ClusterNames: []string{cluster}, Weight: 1}}
}

// podless says whether objects of a kind that nobody reads make no pods: those of the core group.
func podless(ref *berthv1alpha1.Feed) bool {
	return groupOf(ref.APIVersion) == "" && ref.Kind != "Pod"
}

// weights are the weights of the selected Clusters.
func (m *member) weights() []berthv1alpha1.StaticClusterWeight {
	list := make([]berthv1alpha1.StaticClusterWeight, 0, len(m.clusters))
	for _, c := range m.clusters {
		if c.weight > 0 {
			list = append(list, berthv1alpha1.StaticClusterWeight{ClusterNames: []string{c.name}, Weight: c.weight})
		}
	}
	return list
}

// seats lets each Cluster have its share and nothing else. If no Cluster has any, none gets one. The seats of Clusters that take
// no more come last, so that they are given up first.
func (m *member) seats(shares map[string]int64) []berthv1alpha1.StaticClusterWeight {
	list := make([]berthv1alpha1.StaticClusterWeight, 0, len(shares))
	var closed bool
	for _, name := range slices.Sorted(maps.Keys(shares)) {
		n := shares[name]
		list = append(list, berthv1alpha1.StaticClusterWeight{ClusterNames: []string{name}, Weight: n, Max: new(int32(n))})
		closed = closed || !m.open(name)
	}
	for i := range list {
		if closed && m.open(list[i].ClusterNames[0]) {
			list[i].Min = list[i].Max
		}
	}
	if len(list) > 0 {
		return list
	}
	none := berthv1alpha1.StaticClusterWeight{Weight: 1, Max: new(int32(0))}
	for _, c := range m.clusters {
		none.ClusterNames = append(none.ClusterNames, c.name)
	}
	return []berthv1alpha1.StaticClusterWeight{none}
}

// ownerOf returns a reference that lets an object go with its Subscription.
func ownerOf(s *berthv1alpha1.Subscription) metav1.OwnerReference {
	owner := *metav1.NewControllerRef(s, berthv1alpha1.SchemeGroupVersion.WithKind(subscriptionKind))
	owner.BlockOwnerDeletion = nil
	return owner
}

// writePolicy creates or changes a policy. What users have set beside what is divided stays.
func (r *Reconciler) writePolicy(ctx context.Context, existing, policy *berthv1alpha1.PropagationPolicy) error {
	if existing == nil {
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
	case setsMode(existing) && existing.Annotations[berthv1alpha1.DividedAnnotation] != anyNumber &&
		policy.Annotations[berthv1alpha1.DividedAnnotation] == anyNumber:
		after.Spec.Rebalance.Mode = "" // It was for dividing by room.
	}
	if apiequality.Semantic.DeepEqual(existing.Spec, after.Spec) && maps.Equal(existing.Annotations, after.Annotations) &&
		apiequality.Semantic.DeepEqual(existing.OwnerReferences, after.OwnerReferences) {
		return nil
	}
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

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/bundle"
	"berth.dev/berth/pkg/placement/divide"
	"berth.dev/berth/pkg/placement/subscription"
)

// anyNumber is what DividedAnnotation holds for policies that serve any number of replicas.
const anyNumber = "*"

// policyOf returns the policy that a feed should have, nil if none is to be written, and whether
// one that exists is to stay.
func (o *outcome) policyOf(i int) (policy *berthv1alpha1.PropagationPolicy, keep bool) {
	input, division, ref := &o.input.Feeds[i], &o.decision.Feeds[i], o.feeds[i].ref
	byRoom := o.input.Strategy.ByRoom()
	switch {
	case input.Obstacle != "":
		return nil, division.Shares != nil
	case !o.decision.Admitted():
		return nil, bundle.Sum(division.Held) > 0
	case o.decision.Problem != nil:
		return nil, true
	case input.Wanted == nil && (byRoom || podless(ref)):
		return nil, false
	}
	switch {
	case byRoom:
		policy = newPolicy(o.object, ref, o.seats(division.Shares), strconv.FormatInt(*input.Wanted, 10))
	case o.input.Strategy == divide.Static:
		policy = newPolicy(o.object, ref, o.weights(), anyNumber)
	default:
		policy = newPolicy(o.object, ref, oneOf(division.Home), anyNumber)
	}
	if byRoom && setsMode(policy) {
		// The ordinal is the seat, and the order of the seats depends on all shares: with another
		// share ordinals would move that run where there is a place for as many.
		policy.Spec.Rebalance.Mode = berthv1alpha1.RebalanceNever
	}
	return policy, true
}

// setsMode reports whether Berth sets the mode of a policy while it divides by room: that of a
// StatefulSet.
func setsMode(policy *berthv1alpha1.PropagationPolicy) bool {
	selectors := policy.Spec.ResourceSelectors
	return len(selectors) == 1 && selectors[0].Kind == "StatefulSet"
}

func newPolicy(
	s *berthv1alpha1.Subscription, ref *berthv1alpha1.Feed, weights []berthv1alpha1.StaticClusterWeight, divided string,
) *berthv1alpha1.PropagationPolicy {
	return &berthv1alpha1.PropagationPolicy{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.Namespace, Name: subscription.PolicyName(s.Name, ref),
			Annotations:     map[string]string{berthv1alpha1.DividedAnnotation: divided},
			OwnerReferences: []metav1.OwnerReference{ownerOf(s)},
		},
		Spec: berthv1alpha1.PropagationPolicySpec{
			ResourceSelectors: selectorsOf(ref),
			Placement:         berthv1alpha1.Placement{StaticWeightList: weights},
		},
	}
}

func oneOf(cluster string) []berthv1alpha1.StaticClusterWeight {
	return []berthv1alpha1.StaticClusterWeight{{ClusterNames: []string{cluster}, Weight: 1}}
}

// podless reports whether objects of a kind that nobody reads make no pods: those of the core
// group.
func podless(ref *berthv1alpha1.Feed) bool {
	return schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).Group == "" && ref.Kind != "Pod"
}

// weights returns the weights of the Clusters that can be used.
func (o *outcome) weights() []berthv1alpha1.StaticClusterWeight {
	list := make([]berthv1alpha1.StaticClusterWeight, 0, len(o.decision.Clusters))
	for _, c := range o.decision.Clusters {
		if c.Weight > 0 {
			list = append(list, berthv1alpha1.StaticClusterWeight{ClusterNames: []string{c.Name}, Weight: c.Weight})
		}
	}
	return list
}

// seats returns weights by which each Cluster has its share and nothing else. If no Cluster has
// any, none gets one.
func (o *outcome) seats(shares map[string]int64) []berthv1alpha1.StaticClusterWeight {
	if len(shares) == 0 {
		none := berthv1alpha1.StaticClusterWeight{Weight: 1, Max: new(int32(0))}
		for _, c := range o.decision.Clusters {
			none.ClusterNames = append(none.ClusterNames, c.Name)
		}
		return []berthv1alpha1.StaticClusterWeight{none}
	}
	list := make([]berthv1alpha1.StaticClusterWeight, 0, len(shares))
	for _, seat := range o.decision.Seats(shares) {
		weight := berthv1alpha1.StaticClusterWeight{ClusterNames: []string{seat.Name}, Weight: seat.Weight, Max: new(int32(*seat.Max))}
		if seat.Min > 0 {
			weight.Min = new(int32(seat.Min))
		}
		list = append(list, weight)
	}
	return list
}

// publishedShares returns the shares that a policy of this controller, which may be nil, was made
// for.
func publishedShares(policy *berthv1alpha1.PropagationPolicy) map[string]int64 {
	if policy == nil {
		return nil
	}
	shares := map[string]int64{}
	for _, w := range policy.Spec.Placement.StaticWeightList {
		if w.Max == nil || *w.Max <= 0 {
			continue
		}
		for _, name := range w.ClusterNames {
			shares[name] = int64(*w.Max)
		}
	}
	return shares
}

// homeOf returns the Cluster that a policy, which may be nil, names alone, empty if it names none
// or more.
func homeOf(policy *berthv1alpha1.PropagationPolicy) string {
	if policy == nil {
		return ""
	}
	weights := policy.Spec.Placement.StaticWeightList
	if len(weights) != 1 || len(weights[0].ClusterNames) != 1 {
		return ""
	}
	return weights[0].ClusterNames[0]
}

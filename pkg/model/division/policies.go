// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package division

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/bundle"
	"berth.dev/berth/pkg/placement/divide"
	"berth.dev/berth/pkg/placement/subscription"
)

// Outcome is a Subscription with its division.
type Outcome struct {
	// Object is the Subscription.
	Object *berthv1alpha1.Subscription
	// Input is what was decided on, and Decision what was decided. Their feeds are those of Object.
	Input    *bundle.Subscription
	Decision *bundle.Result
}

// AnyNumber is what DividedAnnotation holds for policies that serve any number of replicas.
const AnyNumber = "*"

// Policy returns the policy that a feed should have, nil if none is to be written, and whether
// one that exists is to stay.
func (o *Outcome) Policy(i int) (policy *berthv1alpha1.PropagationPolicy, keep bool) {
	input, division, ref := &o.Input.Feeds[i], &o.Decision.Feeds[i], &o.Object.Spec.Feeds[i]
	byRoom := o.Input.Strategy.ByRoom()
	switch {
	case input.Obstacle != "":
		return nil, division.Shares != nil
	case !o.Decision.Admitted():
		return nil, bundle.Sum(division.Held) > 0
	case o.Decision.Problem != nil:
		return nil, true
	case input.Wanted == nil && (byRoom || podless(ref)):
		return nil, false
	}
	switch {
	case byRoom:
		policy = NewPolicy(o.Object, ref, o.seats(division.Shares), strconv.FormatInt(*input.Wanted, 10))
	case o.Input.Strategy == divide.Static:
		policy = NewPolicy(o.Object, ref, o.weights(), AnyNumber)
	default:
		policy = NewPolicy(o.Object, ref, OneOf(division.Home), AnyNumber)
	}
	if byRoom && SetsMode(policy) {
		// The ordinal is the seat, and the order of the seats depends on all shares: with another
		// share ordinals would move that run where there is a place for as many.
		policy.Spec.Rebalance.Mode = berthv1alpha1.RebalanceNever
	}
	return policy, true
}

// SetsMode reports whether Berth sets the mode of a policy while it divides by room: that of a
// StatefulSet.
func SetsMode(policy *berthv1alpha1.PropagationPolicy) bool {
	selectors := policy.Spec.ResourceSelectors
	return len(selectors) == 1 && selectors[0].Kind == "StatefulSet"
}

// NewPolicy returns the policy of a feed, with the weights and what DividedAnnotation holds.
func NewPolicy(
	s *berthv1alpha1.Subscription, ref *berthv1alpha1.Feed, weights []berthv1alpha1.StaticClusterWeight, divided string,
) *berthv1alpha1.PropagationPolicy {
	return &berthv1alpha1.PropagationPolicy{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.Namespace, Name: subscription.PolicyName(s.Name, ref),
			Annotations:     map[string]string{berthv1alpha1.DividedAnnotation: divided},
			OwnerReferences: []metav1.OwnerReference{OwnerOf(s)},
		},
		Spec: berthv1alpha1.PropagationPolicySpec{
			ResourceSelectors: SelectorsOf(ref),
			Placement:         berthv1alpha1.Placement{StaticWeightList: weights},
		},
	}
}

// OneOf returns weights that put all replicas into one Cluster.
func OneOf(cluster string) []berthv1alpha1.StaticClusterWeight {
	return []berthv1alpha1.StaticClusterWeight{{ClusterNames: []string{cluster}, Weight: 1}}
}

// podless reports whether objects of a kind that nobody reads make no pods: those of the core
// group.
func podless(ref *berthv1alpha1.Feed) bool {
	return schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).Group == "" && ref.Kind != "Pod"
}

// weights returns the weights of the Clusters that can be used.
func (o *Outcome) weights() []berthv1alpha1.StaticClusterWeight {
	list := make([]berthv1alpha1.StaticClusterWeight, 0, len(o.Decision.Clusters))
	for _, c := range o.Decision.Clusters {
		if c.Weight > 0 {
			list = append(list, berthv1alpha1.StaticClusterWeight{ClusterNames: []string{c.Name}, Weight: c.Weight})
		}
	}
	return list
}

// seats returns weights by which each Cluster has its share and nothing else. If no Cluster has
// any, none gets one.
func (o *Outcome) seats(shares map[string]int64) []berthv1alpha1.StaticClusterWeight {
	if len(shares) == 0 {
		none := berthv1alpha1.StaticClusterWeight{Weight: 1, Max: new(int32(0))}
		for _, c := range o.Decision.Clusters {
			none.ClusterNames = append(none.ClusterNames, c.Name)
		}
		return []berthv1alpha1.StaticClusterWeight{none}
	}
	list := make([]berthv1alpha1.StaticClusterWeight, 0, len(shares))
	for _, seat := range o.Decision.Seats(shares) {
		weight := berthv1alpha1.StaticClusterWeight{ClusterNames: []string{seat.Name}, Weight: seat.Weight, Max: new(int32(*seat.Max))}
		if seat.Min > 0 {
			weight.Min = new(int32(seat.Min))
		}
		list = append(list, weight)
	}
	return list
}

// PublishedShares returns the shares that a policy of this controller, which may be nil, was made
// for.
func PublishedShares(policy *berthv1alpha1.PropagationPolicy) map[string]int64 {
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

// HomeOf returns the Cluster that a policy, which may be nil, names alone, empty if it names none
// or more.
func HomeOf(policy *berthv1alpha1.PropagationPolicy) string {
	if policy == nil {
		return ""
	}
	weights := policy.Spec.Placement.StaticWeightList
	if len(weights) != 1 || len(weights[0].ClusterNames) != 1 {
		return ""
	}
	return weights[0].ClusterNames[0]
}

// OwnerOf returns a reference by which an object is removed with its Subscription.
func OwnerOf(s *berthv1alpha1.Subscription) metav1.OwnerReference {
	owner := *metav1.NewControllerRef(s, berthv1alpha1.SchemeGroupVersion.WithKind("Subscription"))
	owner.BlockOwnerDeletion = nil
	return owner
}

// SelectorsOf returns what the policy of a feed selects.
func SelectorsOf(ref *berthv1alpha1.Feed) []berthv1alpha1.ResourceSelector {
	return []berthv1alpha1.ResourceSelector{{APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name}}
}

// RecordedShares returns the division that the status of a Subscription records of a feed, of which
// it may tell nothing.
func RecordedShares(p *berthv1alpha1.FeedPlacement) map[string]int64 {
	shares := map[string]int64{}
	if p != nil {
		for _, c := range p.Clusters {
			if c.Replicas > 0 {
				shares[c.Name] = min(int64(c.Replicas), divide.MaxReplicas)
			}
		}
	}
	return shares
}

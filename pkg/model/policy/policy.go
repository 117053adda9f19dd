// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package policy says what a PropagationPolicy means to the pods that it places: its seats and
// constraints, compiled once for each generation, for the Clusters that there are and those that it
// has left; which policy is in force for a pod or a workload; and what a pod and its policy
// together ask of clusters. Scheduler, controllers and CLI all ask here, so that they cannot
// disagree.
package policy

import (
	"slices"
	"strconv"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/placement/grouping"
	"berth.dev/berth/pkg/placement/rank"
)

// Policy is a compiled PropagationPolicy. It is safe for concurrent use.
type Policy struct {
	// Object is the policy in the version that was compiled. Later versions of the same generation
	// may differ from it in metadata and in status, but for status.failedOver. It must not be changed.
	Object *berthv1alpha1.PropagationPolicy
	// Order is the seat order of the policy, nil if Err is set.
	Order *apportion.Order
	// Err says why the weights cannot be used. Then the policy places nothing, and its pods wait.
	Err error
	// Constraints are what clusters must meet. They mean nothing if ConstraintsErr says what is
	// wrong with them.
	Constraints    rank.Constraints
	ConstraintsErr error

	// Layout is what the order was made from, nil if the placement cannot be understood.
	Layout *grouping.Layout

	// left are the clusters that were left because they are offline.
	left Left
	// limited are the workloads that get no more in some clusters.
	limited map[workloadKey]*limited

	// sites are the last ones for which the order is right.
	sites atomic.Pointer[grouping.Sites]
	plans *apportion.Plans
	table table
}

// Compile returns the compiled policy for the Clusters that there are. What is wrong with it stands
// in Err and ConstraintsErr.
func Compile(object *berthv1alpha1.PropagationPolicy, sites *grouping.Sites) *Policy {
	layout, err := layoutOf(object, sites)
	p := &Policy{Object: object, Err: err, Layout: layout, left: LeftBy(&object.Status)}
	p.sites.Store(sites)
	if err == nil {
		p.Order, p.Err = layout.Order()
	}
	p.plans = apportion.NewPlans(p.Order)
	p.limited = limitsOf(p)
	p.Constraints, p.ConstraintsErr = rank.ParseConstraints(object.Spec.Placement.Constraints)
	return p
}

// layoutOf returns the layout of a policy.
func layoutOf(object *berthv1alpha1.PropagationPolicy, sites *grouping.Sites) (*grouping.Layout, error) {
	return grouping.NewLayout(&object.Spec.Placement, object.Namespace+"/"+object.Name, sites, leftNames(object, sites)...)
}

// Follow returns the policy for other sites, which is itself if they make no difference to it. It
// is safe for concurrent use.
func (p *Policy) Follow(sites *grouping.Sites) *Policy {
	before := p.sites.Load()
	if before == sites {
		return p
	}
	if len(p.Object.Spec.Placement.ClusterGroups) == 0 && !p.Constrained() && len(before.Cordoned()) == 0 && len(sites.Cordoned()) == 0 {
		p.sites.Store(sites) // so that the ones before can be freed
		return p
	}
	layout, err := layoutOf(p.Object, sites)
	if err == nil && layout.Equal(p.Layout) || err != nil && p.Err != nil && err.Error() == p.Err.Error() {
		p.sites.Store(sites)
		return p
	}
	return Compile(p.Object, sites)
}

// Plan returns the seats of n replicas, at most apportion.MaxSeats. Plans in use are kept. It must
// not be called if Err is set.
func (p *Policy) Plan(n int32) *apportion.Plan { return p.plans.Of(n) }

// Strict reports whether a pod waits when no cluster has a free place in its share.
func (p *Policy) Strict() bool {
	return p.Object.Spec.Placement.WhenUnsatisfiable != berthv1alpha1.ScheduleAnyway
}

// Constrained reports whether the policy has constraints on clusters.
func (p *Policy) Constrained() bool { return p.Object.Spec.Placement.Constraints != nil }

// Excludes reports whether a cluster of the policy does not meet its constraints, so that it has no
// share. What only a value of a metric is against has one.
func (p *Policy) Excludes(cluster string) bool {
	if p.Layout == nil {
		return false
	}
	_, excluded := slices.BinarySearch(p.Layout.Excluded, cluster)
	return excluded
}

// Names reports whether the policy names the cluster.
func (p *Policy) Names(cluster string) bool {
	if p.Order == nil {
		return false
	}
	_, named := p.Order.Index(cluster)
	return named
}

// Set holds compiled policies by namespace and name. It must not be changed.
type Set map[types.NamespacedName]*Policy

// NewSet compiles the policies for the Clusters that there are. Those that the set before, which
// may be nil, holds in the same generation are taken over unless other Clusters make a difference
// to them: equal pointers mean that nothing has changed.
func NewSet(objects []*berthv1alpha1.PropagationPolicy, sites *grouping.Sites, before Set) Set {
	set := make(Set, len(objects))
	for _, object := range objects {
		key := types.NamespacedName{Namespace: object.Namespace, Name: object.Name}
		known := before[key]
		if known == nil || known.Object.UID != object.UID || known.Object.Generation != object.Generation ||
			!SameMeaning(known.Object, object) {
			known = Compile(object, sites)
		}
		set[key] = known.Follow(sites)
	}
	return set
}

// Of returns the compiled form of a policy of the set, nil if it is not among them.
func (s Set) Of(object *berthv1alpha1.PropagationPolicy) *Policy {
	return s[types.NamespacedName{Namespace: object.Namespace, Name: object.Name}]
}

// dividedFor reports whether the shares of a policy are those of so many replicas. A Subscription
// that divides by room writes the policy anew for each number: until then it would give up other
// pods than those that have gone.
func dividedFor(policy *berthv1alpha1.PropagationPolicy, replicas int32) bool {
	divided, err := strconv.ParseInt(policy.Annotations[berthv1alpha1.DividedAnnotation], 10, 32)
	return err != nil || divided == int64(replicas)
}

// SameMeaning reports whether two versions of a policy with the same spec mean the same for its
// pods: the same clusters are left, because they are offline, the same ones get no more, and the
// shares are divided for the same number of replicas. Beside the spec, that alone changes what a
// policy means.
func SameMeaning(a, b *berthv1alpha1.PropagationPolicy) bool {
	return a.Annotations[berthv1alpha1.DividedAnnotation] == b.Annotations[berthv1alpha1.DividedAnnotation] &&
		sameLeft(&a.Status, &b.Status) && slices.EqualFunc(a.Status.Limited, b.Status.Limited, sameLimits)
}

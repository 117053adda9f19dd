// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/placement/grouping"
)

// workloadKey names a workload in the namespace of its policy.
type workloadKey struct {
	schema.GroupKind
	name, component string
}

// keyOf returns the key of the workload that a reference names.
func keyOf(ref *berthv1alpha1.WorkloadReference) workloadKey {
	return workloadKey{groupKind(ref.APIVersion, ref.Kind), ref.Name, ref.Component}
}

// LimitedOf returns what the status of a policy says of a workload of its namespace, nil if
// nothing.
func LimitedOf(policy *berthv1alpha1.PropagationPolicy, w *workload.Workload) *berthv1alpha1.LimitedWorkload {
	ref := w.Ref()
	for i := range policy.Status.Limited {
		if keyOf(&policy.Status.Limited[i].Ref) == keyOf(&ref) {
			return &policy.Status.Limited[i]
		}
	}
	return nil
}

// limited is what a policy means to a workload that gets no more in some clusters. It is made when
// it is asked for.
type limited struct {
	clusters []berthv1alpha1.LimitedCluster
	once     sync.Once
	policy   *Policy
}

// limitsOf returns the workloads that a policy limits, nil if there are none.
func limitsOf(p *Policy) map[workloadKey]*limited {
	list := p.Object.Status.Limited
	if len(list) == 0 || p.Err != nil || p.Order.Groups() == 0 {
		return nil
	}
	limits := make(map[workloadKey]*limited, len(list))
	for i := range list {
		limits[keyOf(&list[i].Ref)] = &limited{clusters: list[i].Clusters}
	}
	return limits
}

// For returns what the policy means to a workload: the same, but for clusters in which it gets no
// more than status.limited says. It has the same clusters with the same indexes.
func (p *Policy) For(w *workload.Workload) *Policy {
	if len(p.limited) == 0 {
		return p
	}
	ref := w.Ref()
	found := p.limited[keyOf(&ref)]
	if found == nil {
		return p
	}
	found.once.Do(func() {
		limits := make(map[string]int64, len(found.clusters))
		for _, c := range found.clusters {
			limits[c.Name] = int64(c.Replicas)
		}
		found.policy = p.limit(limits)
	})
	return found.policy
}

// limit returns the policy with limits for clusters, or itself if they cannot be kept.
func (p *Policy) limit(limits map[string]int64) *Policy {
	order, err := p.Layout.Limited(limits)
	if err != nil {
		return p
	}
	return &Policy{
		Object: p.Object, Order: order, Constraints: p.Constraints, ConstraintsErr: p.ConstraintsErr, Layout: p.Layout,
		plans: apportion.NewPlans(order),
	}
}

// unplaced returns how many of n replicas no cluster takes under limits by cluster.
func (p *Policy) unplaced(limits map[string]int64, n int32) int64 {
	order, err := p.Layout.Limited(limits)
	if err != nil {
		order = p.Order
	}
	_, unplaced := order.Shares(int64(n))
	return unplaced
}

// KeepLimits drops limits, by the index of the cluster in Order, that would leave some of n
// replicas without any cluster: pods may as well wait for the clusters that they were for. Those of
// later tiers go first, those that are not standing, which may be nil, before the others. It must
// not be called if Err is set.
func (p *Policy) KeepLimits(limits map[int]int32, standing *berthv1alpha1.LimitedWorkload, n int32) map[int]int32 {
	groups := p.Object.Spec.Placement.ClusterGroups
	old := map[string]bool{}
	if standing != nil {
		for _, c := range standing.Clusters {
			old[c.Name] = true
		}
	}
	rank := func(i int) int {
		rank := 2 * int(grouping.TierOf(&groups[p.Order.GroupOf(i)]))
		if !old[p.Order.Name(i)] {
			rank++
		}
		return rank
	}
	unplaced := func() int64 {
		byName := make(map[string]int64, len(limits))
		for i, limit := range limits {
			byName[p.Order.Name(i)] = int64(limit)
		}
		return p.unplaced(byName, n)
	}
	atBest := p.Plan(n).Unplaced()
	for len(limits) > 0 && unplaced() > atBest {
		last := 0
		for i := range limits {
			last = max(last, rank(i))
		}
		maps.DeleteFunc(limits, func(i int, _ int32) bool { return rank(i) == last })
	}
	return limits
}

// sameLimits reports whether two entries of a status limit the same workload to the same.
func sameLimits(a, b berthv1alpha1.LimitedWorkload) bool {
	return a.Ref == b.Ref && slices.EqualFunc(a.Clusters, b.Clusters, func(x, y berthv1alpha1.LimitedCluster) bool {
		return x.Name == y.Name && x.Replicas == y.Replicas
	})
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/apportion"
)

// workloadKey names a workload in the namespace of its policy.
type workloadKey struct {
	schema.GroupKind
	name, component string
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
		ref := &list[i].Ref
		kind := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()
		limits[workloadKey{kind, ref.Name, ref.Component}] = &limited{clusters: list[i].Clusters}
	}
	return limits
}

// For returns what the policy means to a workload: the same, but for clusters in which it gets no
// more than status.limited says. It has the same clusters with the same indexes.
func (p *Policy) For(w *workload.Workload) *Policy {
	if len(p.limited) == 0 {
		return p
	}
	kind := schema.FromAPIVersionAndKind(w.APIVersion, w.Kind).GroupKind()
	found := p.limited[workloadKey{kind, w.Name, w.Component}]
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
	after := &Policy{
		Object: p.Object, Order: order, Constraints: p.Constraints, ConstraintsErr: p.ConstraintsErr, Layout: p.Layout,
		plans: apportion.NewPlans(order),
	}
	after.sites.Store(p.sites.Load())
	return after
}

// Unplaced returns how many of n replicas no cluster takes under limits by cluster. It must not be
// called if Err is set.
func (p *Policy) Unplaced(limits map[string]int64, n int32) int64 {
	_, unplaced := p.limit(limits).Order.Shares(int64(n))
	return unplaced
}

// sameLimits reports whether two entries of a status limit the same workload to the same.
func sameLimits(a, b berthv1alpha1.LimitedWorkload) bool {
	return a.Ref == b.Ref && slices.EqualFunc(a.Clusters, b.Clusters, func(x, y berthv1alpha1.LimitedCluster) bool {
		return x.Name == y.Name && x.Replicas == y.Replicas
	})
}

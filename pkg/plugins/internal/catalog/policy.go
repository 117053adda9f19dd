// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/placement/policymatch"
	"berth.dev/berth/pkg/placement/rank"
)

// Policy is a PropagationPolicy made ready for use. It is safe for concurrent use.
type Policy struct {
	// Object is the policy as read; it must not be changed.
	Object *berthv1alpha1.PropagationPolicy
	// Order is the seat order of the policy, nil if Err is set.
	Order *apportion.Order
	// Err says why the policy cannot be carried out.
	Err error
	// Constraints are what clusters must meet. They are not usable if ConstraintsErr says what is wrong with them.
	Constraints    rank.Constraints
	ConstraintsErr error

	plans *apportion.Plans
	mu    sync.Mutex
	table []int32
	ids   []int32
}

// Plan returns the seats of n replicas.
func (p *Policy) Plan(n int32) *apportion.Plan {
	return p.plans.Of(n)
}

// Table returns which cluster of the policy, by its index in Order, has which ID, -1 for IDs of other clusters, and the IDs of the
// policy's clusters in their order. Idents tells how many IDs there are, and ident the ID of a cluster; an ID once given never
// changes. Neither result must be changed.
func (p *Policy) Table(idents func() int, ident func(cluster string) int32) (table, ids []int32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.table) == idents() && len(p.table) > 0 {
		return p.table, p.ids
	}
	ids = make([]int32, p.Order.Len())
	for i := range ids {
		ids[i] = ident(p.Order.Name(i))
	}
	table = make([]int32, idents())
	for id := range table {
		table[id] = -1
	}
	for i, id := range ids {
		table[id] = int32(i)
	}
	p.table, p.ids = table, ids
	return table, ids
}

// Strict says whether a pod waits when no cluster has a free place in its share.
func (p *Policy) Strict() bool {
	return p.Object.Spec.Placement.WhenUnsatisfiable != berthv1alpha1.ScheduleAnyway
}

// Names reports whether the policy names the cluster.
func (p *Policy) Names(cluster string) bool {
	if p.Order == nil {
		return false
	}
	_, named := p.Order.Index(cluster)
	return named
}

// compile makes the policies ready, taking over from the snapshot before what has not changed.
func compile(policies []*berthv1alpha1.PropagationPolicy, before *Snapshot) map[types.NamespacedName]*Policy {
	compiled := make(map[types.NamespacedName]*Policy, len(policies))
	for _, object := range policies {
		key := types.NamespacedName{Namespace: object.Namespace, Name: object.Name}
		if before != nil {
			if known := before.policies[key]; known != nil &&
				known.Object.UID == object.UID && known.Object.Generation == object.Generation {
				compiled[key] = known
				continue
			}
		}
		order, err := policymatch.Order(object)
		if err != nil {
			err = fmt.Errorf("policy %s: %w", key, err)
		}
		policy := &Policy{Object: object, Order: order, Err: err, plans: apportion.NewPlans(order)}
		policy.Constraints, policy.ConstraintsErr = rank.ParseConstraints(object.Spec.Placement.Constraints)
		compiled[key] = policy
	}
	return compiled
}

// Constrained says whether the policy has constraints on clusters.
func (p *Policy) Constrained() bool {
	return p.Object.Spec.Placement.Constraints != nil
}

func constrained(policies map[types.NamespacedName]*Policy) map[string]bool {
	namespaces := map[string]bool{}
	for key, policy := range policies {
		if policy.Constrained() {
			namespaces[key.Namespace] = true
		}
	}
	return namespaces
}

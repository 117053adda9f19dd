// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/placement/policymatch"
	"berth.dev/berth/pkg/placement/rank"
)

// compiled is a policy made ready for use. One pass at a time uses it, that of its namespace.
type compiled struct {
	generation int64
	// order is nil if err is set: then the policy is not carried out.
	order    *apportion.Order
	err      error
	problems []policymatch.Problem
	plans    *apportion.Plans
	// constraints are what clusters must meet. They are not usable if constraintsErr is set: then no cluster takes pods.
	constraints    rank.Constraints
	constraintsErr error
	// reported is when the status was written last.
	reported time.Time
}

func compile(policy *berthv1alpha1.PropagationPolicy) *compiled {
	order, err := policymatch.Order(policy)
	c := &compiled{
		generation: policy.Generation, order: order, err: err, problems: policymatch.Problems(policy),
		plans: apportion.NewPlans(order),
	}
	c.constraints, c.constraintsErr = rank.ParseConstraints(policy.Spec.Placement.Constraints)
	return c
}

// compiler keeps policies compiled from one pass to the next. It is safe for concurrent use.
type compiler struct {
	mu       sync.Mutex
	policies map[string]map[types.UID]*compiled
}

// namespace returns the compiled policies of a namespace, and forgets those of policies that are gone.
func (c *compiler) namespace(namespace string, policies []*berthv1alpha1.PropagationPolicy) map[types.UID]*compiled {
	c.mu.Lock()
	before := c.policies[namespace]
	c.mu.Unlock()
	after := make(map[types.UID]*compiled, len(policies))
	for _, policy := range policies {
		if known := before[policy.UID]; known != nil && known.generation == policy.Generation {
			after[policy.UID] = known
			continue
		}
		after[policy.UID] = compile(policy)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.policies == nil {
		c.policies = map[string]map[types.UID]*compiled{}
	}
	if len(after) == 0 {
		delete(c.policies, namespace)
	} else {
		c.policies[namespace] = after
	}
	return after
}

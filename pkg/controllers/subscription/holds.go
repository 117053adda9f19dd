// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/subscription"
)

// holds are who makes the pods that Subscriptions hold back, by workload.Maker.
type holds map[types.UID]bool

// note adds those of a Subscription as it is now. A pod that asks for another policy, or for none,
// is not held.
func (h holds) note(o *outcome, s *berthv1alpha1.Subscription) {
	for i := range o.feeds {
		f := &o.feeds[i]
		if f.foreign || f.observed == nil {
			continue
		}
		exists := func(policy string) bool { return o.named[policy] != nil }
		if subscription.HoldOf(s, f.ref, f.observed.KnownReplicas(), exists) == subscription.NotHeld {
			continue
		}
		for _, pod := range f.observed.Pods {
			if workload.Pending(pod) && pod.Annotations[berthv1alpha1.PolicyAnnotation] == "" {
				h[workload.Maker(pod)] = true
			}
		}
	}
}

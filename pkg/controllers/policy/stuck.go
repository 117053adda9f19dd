// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"time"

	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/rebalance"
)

func minPodAge(in *inForce) time.Duration {
	if spec := &in.policy.Spec.Rebalance; spec.MinPodAge != nil {
		return spec.MinPodAge.Duration
	}
	return rebalance.DefaultMinPodAge
}

func patience(in *inForce) time.Duration {
	return rebalance.Patience(minPodAge(in))
}

// stuck returns how many pods have been without a node for so long that the others are not kept
// where they are for them, and when there will be one more, 0 for never. A pod that was made since
// the latest eviction may be the replacement: it is waited for, however long that takes.
func (p *placement) stuck(patience time.Duration, now time.Time) (stuck int, next time.Duration) {
	for _, pod := range p.Observed.Pods {
		since := workload.UnplacedSince(pod)
		if since.IsZero() || p.note.mayReplace(pod) {
			continue
		}
		if wait := since.Add(patience).Sub(now); wait <= 0 {
			stuck++
		} else if next == 0 || wait < next {
			next = wait
		}
	}
	return stuck, next
}

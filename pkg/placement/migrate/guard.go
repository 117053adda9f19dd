// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"math"
	"slices"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// guards reports whether the replicas of other clusters keep the low seats for now. If somebody
// else lowers the number of replicas meanwhile, an autoscaler for instance, a ReplicaSet takes
// replicas that are not ready first. Those that are ready, and do not serve yet, it holds to be as
// good as those that serve, so they are to have the higher seats until they do. What is beyond the
// surge goes first, see starting, and is not to be kept.
func (w *Situation) guards(part, wanted, elsewhere int64) bool {
	return w.Warms && elsewhere > 0 && w.Pods[w.Target].Ready < part && part+elsewhere <= wanted+w.surge(wanted)
}

// guarded returns the shares of clusters whose replicas keep the low seats: as many as they had
// when the part began. One that is lost comes back where it was.
func (w *Situation) guarded(part int64, others []string) []berthv1alpha1.StaticClusterWeight {
	shares := make([]berthv1alpha1.StaticClusterWeight, 0, len(others))
	for _, name := range others {
		had := w.had(part, name, func(s *berthv1alpha1.StaticClusterWeight) *int32 { return s.Replicas })
		shares = append(shares, berthv1alpha1.StaticClusterWeight{ClusterNames: []string{name}, Replicas: &had})
	}
	return shares
}

// had returns how many replicas a cluster had when shares of this kind were first given to it in
// the part that goes on, as they tell, or has now.
func (w *Situation) had(part int64, cluster string, told func(*berthv1alpha1.StaticClusterWeight) *int32) int32 {
	if w.arriving() && w.Policy[0].Min != nil && int64(*w.Policy[0].Min) == part {
		for i := range w.Policy[1:] {
			s := &w.Policy[1+i]
			if number := told(s); number != nil && slices.Equal(s.ClusterNames, []string{cluster}) {
				return *number
			}
		}
	}
	return int32(min(w.Pods[cluster].Bound, math.MaxInt32))
}

// turns reports whether the new replicas serve, and the old ones are to lose the low seats to them.
func (w *Situation) turns(part int64) bool {
	return w.Warms && w.arriving() && part > 0 && w.Pods[w.Target].Ready >= part
}

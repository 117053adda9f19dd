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
	goesOn := w.arriving() && w.Policy[0].Min != nil && int64(*w.Policy[0].Min) == part
	shares := make([]berthv1alpha1.StaticClusterWeight, 0, len(others))
	for _, name := range others {
		kept := int32(min(w.Pods[name].Bound, math.MaxInt32))
		before := slices.IndexFunc(w.Policy, func(s berthv1alpha1.StaticClusterWeight) bool {
			return goesOn && s.Replicas != nil && len(s.ClusterNames) == 1 && s.ClusterNames[0] == name
		})
		if before >= 0 {
			kept = *w.Policy[before].Replicas
		}
		shares = append(shares, berthv1alpha1.StaticClusterWeight{ClusterNames: []string{name}, Replicas: &kept})
	}
	return shares
}

// turns reports whether the new replicas serve, and the old ones are to lose the low seats to them.
func (w *Situation) turns(part int64) bool {
	return w.Warms && w.arriving() && part > 0 && w.Pods[w.Target].Ready >= part
}

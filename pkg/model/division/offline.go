// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package division

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/placement/bundle"
	"berth.dev/berth/pkg/placement/failover"
)

// Failover says of the selected clusters of a Subscription which of them are offline and which are
// left. It returns those whose shares wait for them, with when they are left, the zero time for
// never, and after which time something changes if nothing else does, 0 for never. The zero time
// stands for a world in which no time passes: what was left stays so.
func Failover(
	s *berthv1alpha1.Subscription, clusters []bundle.SelectedCluster, snapshot *topology.Snapshot, now time.Time,
) (waiting map[string]time.Time, again time.Duration) {
	if s.Spec.Failover == nil {
		return nil, 0
	}
	rule, waiting := failover.Of(s.Spec.Failover), map[string]time.Time{}
	for i := range clusters {
		c := &clusters[i]
		online := snapshot.Cluster(c.Name).Object.Online()
		left, next := rule.Left(online, leftAt(s, c.Name) != nil, now)
		c.Away, c.Left = online != nil && online.Status != metav1.ConditionTrue, left
		if next > 0 && (again == 0 || next < again) {
			again = next
		}
		if c.Away && !c.Left {
			waiting[c.Name] = time.Time{}
			if at, leaves := rule.LeaveAt(online.LastTransitionTime.Time); leaves {
				waiting[c.Name] = at
			}
		}
	}
	return waiting, again
}

// FailedOver returns what the status of a Subscription says of the clusters that are left.
func FailedOver(s *berthv1alpha1.Subscription, left []string, now metav1.Time) (list []berthv1alpha1.FailedOverCluster) {
	if s.Spec.Failover == nil {
		return nil
	}
	for _, name := range left {
		entry := berthv1alpha1.FailedOverCluster{Cluster: name, Time: now}
		if before := leftAt(s, name); before != nil {
			entry = *before
		}
		list = append(list, entry)
	}
	return list
}

// leftAt returns what the status of a Subscription says of a cluster that it has left, nil for any
// other.
func leftAt(s *berthv1alpha1.Subscription, cluster string) *berthv1alpha1.FailedOverCluster {
	i := slices.IndexFunc(s.Status.FailedOver, func(l berthv1alpha1.FailedOverCluster) bool { return l.Cluster == cluster })
	if i < 0 {
		return nil
	}
	return &s.Status.FailedOver[i]
}

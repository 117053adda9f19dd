// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package division

import (
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
	rule, before, waiting := failover.Of(s.Spec.Failover), leftBy(s), map[string]time.Time{}
	for i := range clusters {
		c := &clusters[i]
		online := snapshot.Cluster(c.Name).Object.Online()
		_, wasLeft := before[c.Name]
		left, next := rule.Left(online, wasLeft, now)
		c.Away, c.Left, c.WasLeft = online != nil && online.Status != metav1.ConditionTrue, left, left && wasLeft
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
	before := leftBy(s)
	for _, name := range left {
		since, wasLeft := before[name]
		if !wasLeft {
			since = now
		}
		list = append(list, berthv1alpha1.FailedOverCluster{Cluster: name, Time: since})
	}
	return list
}

// leftBy returns the clusters that a Subscription has left, as its status tells, with when.
func leftBy(s *berthv1alpha1.Subscription) map[string]metav1.Time {
	left := make(map[string]metav1.Time, len(s.Status.FailedOver))
	for _, l := range s.Status.FailedOver {
		left[l.Cluster] = l.Time
	}
	return left
}

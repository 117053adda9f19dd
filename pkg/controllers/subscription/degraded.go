// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/subscription"
)

// degraded tells what has lost its place: the Cluster, the node, or the room for a replica.
func (m *member) degraded() metav1.Condition {
	closed, stranded := map[string]bool{}, map[string]int64{}
	var short []string
	for _, f := range m.feeds {
		for name := range f.shares {
			if !m.open(name) {
				closed[name] = true
			}
		}
		for node, n := range f.stranded {
			stranded[node] += n
		}
		if n := m.roomLost(f); n > 0 {
			short = append(short, fmt.Sprintf("%d of %d replicas of %s %s", n, *f.wanted, f.ref.Kind, f.ref.Name))
		}
	}
	yes := func(reason, message string) metav1.Condition {
		return condition(berthv1alpha1.SubscriptionDegraded, true, reason, message)
	}
	switch {
	case len(closed) > 0:
		return yes(berthv1alpha1.ReasonClusterLost,
			"replicas are held by Clusters that take no more: "+few(slices.Sorted(maps.Keys(closed))))
	case len(stranded) > 0:
		return yes(berthv1alpha1.ReasonNodeLost,
			fmt.Sprintf("%d pods are on nodes that are not ready, or gone: %s", sum(stranded), few(slices.Sorted(maps.Keys(stranded)))))
	case len(short) > 0:
		return yes(berthv1alpha1.ReasonRoomLost, "no room any more for "+strings.Join(short, ", "))
	}
	return condition(berthv1alpha1.SubscriptionDegraded, false, berthv1alpha1.ReasonPlacesKept, "nothing has lost its place")
}

// roomLost returns how many replicas of a feed had a place once and find no room any more.
func (m *member) roomLost(f *feed) int64 {
	known := apimeta.FindStatusCondition(m.object.Status.Conditions, berthv1alpha1.SubscriptionDegraded)
	was := known != nil && known.Reason == berthv1alpha1.ReasonRoomLost
	before := subscription.PlacementOf(m.object, f.ref)
	switch {
	case f.lacking > 0:
		return f.lacking
	case f.unplaced == 0 || before == nil:
		return 0
	case was || before.Unplaced == 0 && int64(ptr.Deref(before.Replicas, 0)) >= *f.wanted:
		return f.unplaced
	}
	return 0
}

// named is how many names a message tells.
const named = 5

// few joins names, the first ones if there are many.
func few(names []string) string {
	if len(names) <= named {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:named], ", "), len(names)-named)
}

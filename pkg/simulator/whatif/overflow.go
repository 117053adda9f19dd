// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	modelpolicy "berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/placement/grouping"
)

// overflow lets other clusters have the replicas for which some find no node, where policies say
// after which time: in a simulation it has always passed.
func (s *Simulation) overflow(ctx context.Context) error {
	if !slices.ContainsFunc(kept[*berthv1alpha1.PropagationPolicy](s), givesUp) {
		return nil
	}
	return s.eachPlaced(func(m *mover) error { return m.overflow(ctx) })
}

// givesUp reports whether a policy gives up anywhere.
func givesUp(policy *berthv1alpha1.PropagationPolicy) bool {
	return slices.ContainsFunc(grouping.Patience(policy.Spec.Placement.ClusterGroups), func(d time.Duration) bool { return d > 0 })
}

// overflow limits the clusters of one workload, and lets limits grow with the room.
func (m *mover) overflow(ctx context.Context) error {
	object := m.policy.Object
	if m.assess(); m.shares.Plan == nil || !givesUp(object) {
		return nil
	}
	before := modelpolicy.LimitedOf(object, &m.observed.Workload)
	waiting := m.inVain()
	limits, rooms := map[int]int32{}, map[int]int32{}
	patience := grouping.Patience(object.Spec.Placement.ClusterGroups)
	for i := range m.shares.Desired {
		if patience[m.policy.Order.GroupOf(i)] == 0 {
			continue
		}
		limit, limited, err := m.next(ctx, i, limitIn(before, m.policy.Order.Name(i)), waiting)
		if err != nil {
			return err
		}
		if limited {
			limits[i], rooms[i] = limit.Replicas, limit.Room
		}
	}
	return m.limit(m.policy.KeepLimits(limits, before, m.observed.Replicas), rooms, waiting)
}

// next returns the limit of a cluster, given the one that it had, which may be nil, and whether it
// has one now.
func (m *mover) next(
	ctx context.Context, i int, stood *berthv1alpha1.LimitedCluster, waiting []*corev1.Pod,
) (limit berthv1alpha1.LimitedCluster, limited bool, err error) {
	current := m.shares.Current[i]
	short := len(waiting) > 0 && m.shares.Desired[i] > current
	if stood == nil && !short {
		return limit, false, nil
	}
	room, known, err := m.roomFor(ctx, i, waiting)
	if err != nil {
		return limit, false, err
	}
	limit.Replicas, limit.Room = current, room
	if stood != nil && !short { // the scheduler does not contradict that there is more room
		if !known {
			room = stood.Room
		}
		limit.Replicas, limit.Room = current+max(0, room-stood.Room), min(room, stood.Room)
	}
	return limit, int(limit.Replicas) < m.policy.Plan(m.observed.Replicas).Share(i), nil
}

// limitIn returns what is said of a cluster, nil if nothing.
func limitIn(limited *berthv1alpha1.LimitedWorkload, cluster string) *berthv1alpha1.LimitedCluster {
	if limited == nil {
		return nil
	}
	i := slices.IndexFunc(limited.Clusters, func(c berthv1alpha1.LimitedCluster) bool { return c.Name == cluster })
	if i < 0 {
		return nil
	}
	return &limited.Clusters[i]
}

// inVain returns the pods that have been tried in vain, if they can only be for clusters that are
// full: with several that are short of pods, only if as many wait.
func (m *mover) inVain() []*corev1.Pod {
	var waiting []*corev1.Pod
	for _, pod := range m.observed.Pods {
		if pod.Spec.NodeName == "" && m.vain(pod) {
			waiting = append(waiting, pod)
		}
	}
	short, missing := 0, 0
	for i, desired := range m.shares.Desired {
		if lacking := int(desired - m.shares.Current[i]); lacking > 0 {
			short, missing = short+1, missing+lacking
		}
	}
	if short > 1 && len(waiting) < missing {
		return nil
	}
	return waiting
}

// roomFor returns how many more replicas a cluster takes. It is not known where no pod waits or
// runs elsewhere.
func (m *mover) roomFor(ctx context.Context, cluster int, waiting []*corev1.Pod) (room int32, known bool, err error) {
	var sample *corev1.Pod
	if len(waiting) > 0 {
		sample = waiting[0]
	}
	for i, pod := range m.bound {
		if sample == nil && m.shares.Pods[i].Cluster != cluster {
			sample = pod
		}
	}
	if sample == nil || m.clusters[cluster] == nil {
		return 0, false, nil
	}
	n, err := m.roomIn(ctx, cluster, sample, int(m.observed.Replicas))
	return int32(n), true, err
}

// limit writes the limits of the workload into the status of its policy.
func (m *mover) limit(limits, rooms map[int]int32, waiting []*corev1.Pod) error {
	// Another workload of the policy may have been limited since it was compiled.
	current, ref := m.policyNamed(m.policy.Object.Namespace, m.policy.Object.Name), m.observed.Ref()
	after := current.DeepCopy()
	entry := berthv1alpha1.LimitedWorkload{Ref: ref}
	if len(waiting) > 0 {
		entry.LimitedBy = m.tried[waiting[0].UID].reasons
	} else if before := modelpolicy.LimitedOf(after, &m.observed.Workload); before != nil {
		entry.LimitedBy = before.LimitedBy
	}
	for i, limit := range limits {
		entry.Clusters = append(entry.Clusters, berthv1alpha1.LimitedCluster{Name: m.policy.Order.Name(i), Replicas: limit, Room: rooms[i]})
	}
	slices.SortFunc(entry.Clusters, func(a, b berthv1alpha1.LimitedCluster) int { return strings.Compare(a.Name, b.Name) })
	list := slices.DeleteFunc(after.Status.Limited, func(l berthv1alpha1.LimitedWorkload) bool { return l.Ref == ref })
	if len(limits) > 0 {
		list = append(list, entry)
	}
	slices.SortFunc(list, func(a, b berthv1alpha1.LimitedWorkload) int {
		return cmp.Or(strings.Compare(a.Ref.Kind, b.Ref.Kind), strings.Compare(a.Ref.Name, b.Ref.Name), strings.Compare(a.Ref.Component, b.Ref.Component))
	})
	after.Status.Limited = list
	if apiequality.Semantic.DeepEqual(current.Status.Limited, after.Status.Limited) {
		return nil
	}
	return m.replace(after)
}

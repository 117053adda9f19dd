// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/placement/rebalance"
)

// inForce is a policy with the workloads that it places.
type inForce struct {
	*compiled
	policy *berthv1alpha1.PropagationPolicy
	// clusters are the clusters of the policy by their index in the seat order, nil for those that do not exist.
	clusters   []*topology.Cluster
	placements []*placement
	// unserved are selected workloads whose pods use another scheduler, lost those that another policy places.
	unserved []*workload.Observed
	lost     []loss
}

// loss is a workload that a policy selects and another one places.
type loss struct {
	workload *workload.Observed
	winner   string
}

// placement is a workload with the policy in force for it.
type placement struct {
	*workload.Observed
	// plan is nil if the number of replicas is not known, or the policy cannot be carried out.
	plan *apportion.Plan
	// bound are the replicas that count, pods what rebalance sees of them, and seats what they should hold, nil if that
	// must not change now.
	bound []*corev1.Pod
	pods  []rebalance.Pod
	seats []int32
	// desired and current are replicas by the index of the cluster in the seat order.
	desired, current []int32
	pending          int32
	misplaced        int
	decision         rebalance.Decision
	// moving is true while a round of evictions is under way.
	moving bool
	note   *record
}

// assessor turns what is observed into placements.
type assessor struct {
	snapshot *topology.Snapshot
	now      time.Time
	// unheard says whether a Cluster that is not in the snapshot exists all the same.
	unheard func(cluster string) bool
}

// clustersOf looks up the clusters of a policy.
func (a *assessor) clustersOf(order *apportion.Order) []*topology.Cluster {
	clusters := make([]*topology.Cluster, order.Len())
	for i := range clusters {
		clusters[i] = a.snapshot.Cluster(order.Name(i))
	}
	return clusters
}

// assess counts the replicas of a workload where they are, and compares them with the shares. Pods that are known to have
// been evicted do not count, whatever the cache says.
func (a *assessor) assess(in *inForce, o *workload.Observed, note *record) *placement {
	p := &placement{Observed: o, pending: int32(o.Pending(false)), note: note}
	for _, pod := range o.Bound() {
		if !note.evicted(pod.UID) {
			p.bound = append(p.bound, pod)
		}
	}
	if in.order == nil {
		return p
	}
	p.current, p.desired = make([]int32, in.order.Len()), make([]int32, in.order.Len())
	if o.ReplicasKnown {
		p.plan = in.plans.Of(o.Replicas)
	}
	p.pods = make([]rebalance.Pod, len(p.bound))
	elsewhere := 0
	for i, pod := range p.bound {
		p.pods[i] = a.pod(in, p, pod)
		if c := p.pods[i].Cluster; c != rebalance.Elsewhere {
			p.current[c]++
		} else {
			elsewhere++
		}
	}
	if p.plan == nil {
		copy(p.desired, p.current)
		p.misplaced = elsewhere
		return p
	}
	if indexes := p.indexes(); len(indexes) > 0 {
		p.plan = in.plans.Of(max(o.Replicas, slices.Max(indexes)+1))
		for _, index := range indexes {
			if owner, ok := p.plan.Owner(int64(index)); ok {
				p.desired[owner]++
			}
		}
	} else {
		for i := range p.desired {
			p.desired[i] = int32(p.plan.Share(i))
		}
	}
	p.misplaced = rebalance.Misplaced(p.plan, in.order.Len(), p.pods)
	p.seat()
	return p
}

// indexes returns the completion indexes of the pods of an Indexed Job. They go beyond the number of pods that the Job
// wants at a time, and its shares are those of the indexes at hand.
func (p *placement) indexes() []int32 {
	if p.Kind != workload.KindJob {
		return nil
	}
	var indexes []int32
	for _, pod := range p.Pods {
		if index, indexed := workload.Ordinal(pod, 0); indexed && index < apportion.MaxSeats {
			indexes = append(indexes, index)
		}
	}
	return indexes
}

// seat gives the pods the seats that they should hold, unless the workload is about to shrink by those that they do hold.
func (p *placement) seat() {
	if len(p.bound) > int(p.Replicas) {
		return
	}
	p.seats = rebalance.Seats(p.plan, p.pods)
	for i, seat := range p.seats {
		pod := &p.pods[i]
		if pod.Fixed {
			continue
		}
		pod.Seat = seat
		if given, stamped := stamp.Of(p.bound[i]); stamped && given.OwnsDeletionCost(p.bound[i]) {
			pod.Cost = stamp.ParseDeletionCost(stamp.Stamp{Seat: seat}.DeletionCost())
		}
	}
}

// pod is what rebalance sees of a pod.
func (a *assessor) pod(in *inForce, p *placement, pod *corev1.Pod) rebalance.Pod {
	node, _ := a.snapshot.Place(pod.Spec.NodeName)
	given, stamped := stamp.Of(pod)
	seen := rebalance.Pod{
		Name: pod.Name, Cluster: rebalance.Elsewhere, Seat: stamp.NoSeat, Ready: workload.Ready(pod),
		Cost: stamp.ParseDeletionCost(pod.Annotations[corev1.PodDeletionCost]), Age: a.age(pod),
	}
	if index, named := in.order.Index(a.clusterOf(in, pod, given)); named {
		seen.Cluster = index
	}
	if stamped {
		seen.Seat = given.Seat
	}
	if ordinal, fixed := workload.Ordinal(pod, p.FirstOrdinal); fixed {
		seen.Seat, seen.Fixed = ordinal, true
	}
	switch {
	case !stamped:
		seen.Keep = rebalance.NotOurs
	case given.Policy != in.policy.Name:
		seen.Keep = rebalance.TakenOver
	case protected(pod):
		seen.Keep = rebalance.Protected
	case node == nil || !topology.Ready(node):
		seen.Keep = rebalance.Unreachable
	case p.note.refused(pod.UID, a.now):
		seen.Keep = rebalance.Refused
	}
	return seen
}

// age is how long a pod has been running; a pod that has not started counts from when it was made, so that one that never
// will can be moved.
func (a *assessor) age(pod *corev1.Pod) time.Duration {
	since := pod.CreationTimestamp.Time
	if started := pod.Status.StartTime; started != nil && started.After(since) {
		since = started.Time
	}
	return a.now.Sub(since)
}

// systemCriticalPriority is the lowest priority that only system classes have.
const systemCriticalPriority = 2_000_000_000

// protected says whether a pod must not be evicted whatever the policy wants: pods critical to the system, static pods,
// pods of DaemonSets, and those that a user marked.
func protected(pod *corev1.Pod) bool {
	if pod.Spec.Priority != nil && *pod.Spec.Priority >= systemCriticalPriority {
		return true
	}
	_, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return mirror || pod.Annotations[state.SafeToEvictAnnotation] == "false" || len(pod.OwnerReferences) == 0
}

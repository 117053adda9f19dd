// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	modelpolicy "berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/placement/rebalance"
)

// inForce is a policy with the workloads that it places.
type inForce struct {
	*modelpolicy.Policy
	// policy is the newest version of the policy, Policy one of the same generation.
	policy *berthv1alpha1.PropagationPolicy
	// clusters are the clusters of the policy by their index in the seat order, nil for those that
	// do not exist.
	clusters []*topology.Cluster
	// unsettled reports whether pods may have moved of late because clusters were offline, settledIn
	// when that is over, 0 if nobody knows.
	unsettled  bool
	settledIn  time.Duration
	placements []*placement
	// unserved are selected workloads whose pods use another scheduler, lost those that another
	// policy places.
	unserved []*workload.Observed
	lost     []loss
	// scaling is what came of following the clusters, if the policy does.
	scaling scaling
	// unread says why objects of kinds that the policy selects cannot be read.
	unread []string
	// uncounted says of which workloads nobody can tell how many pods they want, and why.
	uncounted []string
}

// loss is a workload that a policy selects and another one places.
type loss struct {
	workload *workload.Observed
	winner   string
}

// placement is a workload with the policy in force for it.
type placement struct {
	*workload.Observed
	// Shares are empty if the policy cannot be carried out. Desired and Current are by the index of
	// the cluster.
	modelpolicy.Shares
	// bound are the replicas that count, of which Pods tells what rebalance sees, and places what
	// they should have, nil if that must not change now. What is put off comes after putOff.
	bound    []*corev1.Pod
	places   []rebalance.Place
	putOff   time.Duration
	pending  int32
	decision rebalance.Decision
	// leaving is how many pods terminate, by the index of the cluster, that no other ones take the
	// place of until they are gone.
	leaving map[int]int
	// moving is true while a round of evictions is under way.
	moving bool
	note   *record
}

// assessor turns what is observed into placements.
type assessor struct {
	snapshot *topology.Snapshot
	now      time.Time
	// schedulers are the names of the schedulers that Berth's plugins run in.
	schedulers []string
	// unheard reports whether a Cluster that is not in the snapshot exists all the same.
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

// assess counts the replicas of a workload where they are, and compares them with the shares. Pods
// that are known to have been evicted do not count, whatever the cache says.
func (a *assessor) assess(in *inForce, o *workload.Observed, note *record) *placement {
	p := &placement{Observed: o, pending: int32(o.Pending(false)), note: note}
	for _, pod := range o.Bound() {
		if !note.evicted(pod.UID) {
			p.bound = append(p.bound, pod)
		}
	}
	if in.Err != nil {
		return p
	}
	// Without its seat a pod would be the first that goes when its workload shrinks. So it keeps it
	// while the cache has not heard of its Cluster yet.
	unheard := func(cluster string) bool { return in.Names(cluster) && a.unheard(cluster) }
	p.Shares = in.Shares(o, p.bound, func(pod *corev1.Pod) string { return a.snapshot.ClusterOfBehind(pod, unheard) })
	for i, pod := range p.bound {
		node, cluster := a.snapshot.Place(pod.Spec.NodeName)
		seen := &p.Shares.Pods[i]
		seen.Cost, seen.Age = stamp.ParseDeletionCost(pod.Annotations[corev1.PodDeletionCost]), a.age(pod)
		seen.Keep = in.KeepOf(&o.Workload, pod, node, a.snapshot.Cluster(cluster), a.schedulers, note.refused(pod.UID, a.now))
		seen.Asked = note.mayGo(pod.UID)
		seen.Unwanted = modelpolicy.Unwanted(in.policy, a.snapshot.Cluster(cluster), seen.Cluster != rebalance.Elsewhere)
	}
	p.places = p.Rank(p.bound, p.Replicas)
	p.leaving = map[int]int{}
	for _, pod := range o.Leaving {
		if index, named := in.Order.Index(a.snapshot.ClusterOf(pod)); named {
			p.leaving[index]++
		}
	}
	return p
}

// pace leaves the places of pods that are put off as they are. It is called once in a pass.
func (p *placement) pace(now time.Time) {
	if p.places == nil {
		return
	}
	var rest []int
	rest, p.putOff = p.note.reordering.PutOff(p.Shares.Pods, p.places, p.Replicas, now)
	for _, i := range rest {
		p.places[i] = p.Shares.Pods[i].Place
	}
}

// age is how long a pod has been running; a pod that has not started counts from when it was made,
// so that one that never will can be moved.
func (a *assessor) age(pod *corev1.Pod) time.Duration {
	since := pod.CreationTimestamp.Time
	if started := pod.Status.StartTime; started != nil && started.After(since) {
		since = started.Time
	}
	return a.now.Sub(since)
}

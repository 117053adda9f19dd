// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"slices"
	"strings"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	modelpolicy "berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/placement/admit"
	"berth.dev/berth/pkg/placement/names"
)

// explainWaiting says why a pod with a policy waits.
func (e *PodAnswer) explainWaiting(q *question) {
	var admitting, usable []string
	for i := range e.Clusters {
		if c := &e.Clusters[i]; c.admits {
			admitting = append(admitting, c.Name)
			if c.Nodes.Usable > 0 {
				usable = append(usable, c.Name)
			}
		}
	}
	switch {
	case len(usable) > 0:
		e.becausef("the policy lets it into %s, and nodes there look usable", strings.Join(usable, ", "))
	case len(admitting) > 0:
		e.becausef("the policy lets it into %s only, and no node there can take it", strings.Join(admitting, ", "))
	default:
		e.explainFull(q)
	}
	if len(usable) == 0 && e.Policy.WhenUnsatisfiable == string(berthv1alpha1.ScheduleAnyway) {
		e.becausef("whenUnsatisfiable is %s, so it may go to any other node", berthv1alpha1.ScheduleAnyway)
	}
	if gates := q.pod.Spec.SchedulingGates; len(gates) > 0 {
		gated := make([]string, len(gates))
		for i := range gates {
			gated[i] = gates[i].Name
		}
		e.becausef("scheduling gates hold it back: %s", strings.Join(gated, ", "))
	}
	if node := q.pod.Status.NominatedNodeName; node != "" {
		e.becausef("it waits for pods of lower priority to leave node %s", node)
	}
}

// explainGroups says which groups of a policy are not what they seem to be.
func (e *PodAnswer) explainGroups(policy *modelpolicy.Policy) {
	if empty := policy.Layout.Empty; len(empty) > 0 {
		e.becausef("these groups of the policy have no Cluster of their own: %s", strings.Join(empty, ", "))
	}
	for _, o := range policy.Layout.Overlaps {
		if e.Placement != nil && e.Placement.Cluster == o.Cluster {
			e.becausef("cluster %s is in the groups %s and %s of the policy, and belongs to the first", o.Cluster, o.First, o.Second)
		}
	}
}

// explainFailover says which clusters of the policy were left because they are offline.
func (e *PodAnswer) explainFailover(q *question) {
	if e.State != waiting {
		if e.Placement != nil && modelpolicy.LeftBy(&q.policy.Status).Has(e.Placement.Cluster) {
			e.becausef("cluster %s has been offline for too long, so the seat of this pod is elsewhere", e.Placement.Cluster)
		}
		return
	}
	for _, left := range q.policy.Status.FailedOver {
		e.becausef("cluster %s has been offline for too long, so the others have its share", left.Cluster)
	}
}

// explainLimits says which clusters of the policy get no more of the workload than they run and
// have room for.
func (e *PodAnswer) explainLimits(q *question) {
	limited := modelpolicy.LimitedOf(q.policy, q.workload)
	if limited == nil {
		return
	}
	for _, c := range limited.Clusters {
		e.becausef("cluster %s is full, so others have what exceeds %s there", c.Name, names.Count(int(c.Replicas), "replica"))
	}
}

// explainCordons says which clusters of the policy take no new pods, and what that means to a pod
// that runs in one.
func (e *PodAnswer) explainCordons(q *question) {
	for i := range q.order.Len() {
		cluster := q.state.Topology.Cluster(q.order.Name(i))
		switch {
		case cluster == nil, !cluster.Object.Spec.Unschedulable:
		case e.State == waiting:
			e.becausef("cluster %s is cordoned, so its share goes to the others", q.order.Name(i))
		case e.Placement == nil, cluster.Object.Name != e.Placement.Cluster:
		case cluster.Object.Spec.Drain:
			e.becausef("cluster %s is being drained, so this pod is to leave it", q.order.Name(i))
		default:
			e.becausef("cluster %s is cordoned: the pod stays there until that is drained or the pod goes", q.order.Name(i))
		}
	}
}

// explainFull says why no cluster admits a pod.
func (e *PodAnswer) explainFull(q *question) {
	switch {
	case q.order.Len() == 0:
		e.becausef("no Cluster is in the groups of the policy yet")
	case q.fixed:
		e.becausef("seat %d is beyond the max of all clusters", q.seat)
	case q.plan == nil:
		e.becausef("all clusters are at their max")
	case q.plan.Unplaced() > 0:
		e.becausef("all clusters are at their max, which leaves %d of %d replicas without a place",
			q.plan.Unplaced(), q.plan.Replicas())
	default:
		e.becausef("all clusters have their share: %s wanted, and as many pods of this revision are bound",
			names.Are(int(q.plan.Replicas()), "replica"))
	}
}

// explainBound reports whether a bound pod is where the policy wants it.
func (e *PodAnswer) explainBound(q *question) {
	p := e.Placement
	switch {
	case e.State == bound && modelpolicy.Adopts(q.policy.Name, q.workload, q.pod, q.state.Schedulers):
		e.becausef("no policy placed it: none was in force when it was bound, or something other than Berth bound it; policy %q "+
			"is about to take it over, if berth-controller-manager runs", q.policy.Name)
	case e.State == bound && !slices.Contains(q.state.Schedulers, e.SchedulerName):
		e.becausef("its schedulerName is %q: it counts in the shares, but Berth, which places pods of %q, neither takes it over "+
			"nor evicts it", e.SchedulerName, strings.Join(q.state.Schedulers, `" or "`))
		return
	case e.State == bound:
		e.becausef("no policy placed it: none was in force when it was bound, or something other than Berth bound it; it counts " +
			"in the shares, and Berth never evicts it")
		return
	case p.PlacedBy != q.policy.Name:
		e.becausef("policy %q placed it, but policy %q is in force now", p.PlacedBy, q.policy.Name)
	default:
		e.becausef("policy %q placed it", p.PlacedBy)
	}
	if e.State == placed && p.PlacedIn != p.Cluster {
		e.becausef("it was placed in %s, but its node belongs to %s now", InCluster(p.PlacedIn), InCluster(p.Cluster))
	}
	cluster, named := q.order.Index(p.Cluster)
	if !named {
		e.becausef("its node belongs to no cluster of the policy, so it is misplaced")
		return
	}
	if q.plan != nil {
		e.explainSurplus(q, cluster)
	}
}

// explainSurplus reports whether a pod in a cluster of the policy is among those that may have to
// move.
func (e *PodAnswer) explainSurplus(q *question, cluster int) {
	surplus, name := -q.plan.Free(cluster, q.held[cluster]), q.order.Name(cluster)
	switch owner := q.admission.Only; {
	case q.fixed && (owner == admit.None || int(owner) == cluster):
	case q.fixed && surplus > 0:
		e.becausef("seat %d belongs to cluster %s, and cluster %s has %d more than its share, so this pod may be among those that "+
			"have to move", q.seat, q.order.Name(int(owner)), name, surplus)
	case q.fixed:
		e.becausef("seat %d belongs to cluster %s, but cluster %s has no more than its share, so the pod stays until it is made anew",
			q.seat, q.order.Name(int(owner)), name)
	case surplus > 0:
		e.becausef("cluster %s has %d more than its share, and this pod may be among those that have to move",
			name, surplus)
	}
}

// explainEnd adds what holds whatever the policy says.
func (e *PodAnswer) explainEnd() {
	switch e.State {
	case terminating:
		e.becausef("it is being deleted, so it holds no seat any more")
	case finished:
		e.becausef("it has finished, so it holds no seat any more")
	case waiting:
		held := e.Subscription != nil && e.Subscription.Held != ""
		if e.Scheduler == nil && !held {
			e.becausef("no scheduler has said anything about it yet: check that %s is running", e.SchedulerName)
		}
	case placed, bound:
	}
}

// InCluster names a Cluster in a sentence; an empty name stands for none.
func InCluster(name string) string {
	if name == "" {
		return "no cluster"
	}
	return "cluster " + name
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/admit"
	"berth.dev/berth/pkg/plugins/internal/catalog"
	"berth.dev/berth/pkg/plugins/internal/guard"
	"berth.dev/berth/pkg/plugins/internal/narrow"
)

// PreFilter finds the policy of the pod and how far each of its clusters is from its share. Where
// that is quicker, it names the nodes that may take the pod, or some of them, to the framework,
// which then looks at no others.
func (p *NodeGroupPolicy) PreFilter(
	ctx context.Context, cycle fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo,
) (result *fwk.PreFilterResult, status *fwk.Status) {
	defer guard.Rescue(ctx, Name, "PreFilter", &status)
	snapshot := p.shared.Catalog.Snapshot()
	if snapshot == nil {
		return nil, reject(reasonUnreadable)
	}
	if unconcerned(snapshot, pod) {
		return nil, skip
	}
	policy, w, err := snapshot.PolicyOf(pod, p.shared.Owners)
	if err != nil {
		return nil, p.unknown(cycle, snapshot, pod, nodes, err)
	}
	if w.Cut != nil {
		p.tellCut(pod, w.Cut)
	}
	if policy == nil {
		return nil, p.keepOff(cycle, snapshot, pod, nodes)
	}
	if policy.Err != nil {
		return nil, reject(reasonPolicyInvalid)
	}

	s, names, sampled := p.shareOut(&attempt{
		cycle: cycle, snapshot: snapshot, policy: policy, pod: pod, workload: w, nodes: nodes,
	})
	switch {
	case p.shared.Late.Pending.Load() && p.contended(s, pod):
		return nil, reject(reasonContended)
	case names == nil:
		p.kept.Write(cycle, stateKey, s, &s.entry)
		return nil, nil
	}
	p.kept.Write(cycle, stateKey, s, &s.entry)
	s.sampled, s.result.NodeNames = sampled, names
	return &s.result, nil
}

// attempt is an attempt to place a pod that has a policy.
type attempt struct {
	cycle    fwk.CycleState
	snapshot *catalog.Snapshot
	policy   *policy.Policy
	pod      *corev1.Pod
	workload workload.Workload
	nodes    []fwk.NodeInfo

	// recounted is how many nodes were counted anew for it, which took so long.
	recounted int
	took      time.Duration
}

// shareOut decides which clusters may take the pod, and names the nodes that the framework is to
// look at, see name.
func (p *NodeGroupPolicy) shareOut(a *attempt) (s *state, names sets.Set[string], sampled bool) {
	// Most pods are placed by a sample of the nodes of their clusters, for which only these have to
	// be looked at. That a pod has to wait follows from a look at all nodes. Where a decision goes
	// through the nodes anyway, a first one would be wasted.
	part := p.sampling && a.workload.ReplicasKnown && a.policy.Strict() &&
		!p.shared.Retries.Thorough(a.pod.UID) && !narrow.Particular(a.pod)
	s, whole := p.refresh(a, part)
	p.admit(a, s)
	if names, sampled = p.name(s, a.pod, a.nodes); !whole && !sampled {
		s, _ = p.refresh(a, false)
		p.admit(a, s)
		names, sampled = p.name(s, a.pod, a.nodes)
	}
	observeRecount(a.recounted, a.took)
	return s, names, sampled
}

// refresh brings the view up to date, if part is true as far as it concerns the clusters of the
// policy, and returns what it counts for the pod. It reports whether all nodes have been looked at.
func (p *NodeGroupPolicy) refresh(a *attempt, part bool) (s *state, whole bool) {
	started := p.shared.Clock.Now()
	s = &state{policy: a.policy, view: p.shared.View}
	s.rejected = &s.ownRejected
	s.revision, s.owned = workload.RevisionUnder(a.pod, a.policy.Object.Name)
	var ids []int32
	cordoned := closedIn(s.view, a.snapshot)
	s.clusters, ids = a.policy.Table(s.view.Clusters, s.view.ClusterID)
	if cordoned != nil {
		s.closeTo(cordoned)
	}
	if whole = !part; whole {
		s.view.Refresh(a.nodes, a.snapshot.Membership)
	} else {
		whole = s.view.RefreshClusters(a.nodes, a.snapshot.Membership, ids, p.shared.Clock)
	}
	s.counts = s.view.Counts(s.revision)
	a.recounted, a.took = a.recounted+s.view.Recounted(), a.took+p.shared.Clock.Since(started)
	return s, whole
}

// keepTo leaves out the clusters that other schedulers look after: the pod is here because one of
// this scheduler's is to take it.
func (s *state) keepTo(own []bool, shared bool) {
	if !shared {
		return
	}
	kept := slices.Clone(s.clusters)
	for id := range kept {
		if id >= len(own) || !own[id] {
			kept[id] = admit.None
		}
	}
	s.clusters, s.shared = kept, true
}

// admit fills in which clusters may take the pod. With ScheduleAnyway the clusters of the policy
// come before all other nodes. A score alone does not see to that: of many nodes the scheduler
// looks only at some.
func (p *NodeGroupPolicy) admit(a *attempt, s *state) {
	if p.shared.Own != nil {
		s.keepTo(p.shared.Own(a.cycle))
	}
	question := admit.Question{
		Order: a.policy.Order, Seat: admit.NoSeat, Held: s.held(), Eligible: s.eligible(),
		Strict: a.policy.Strict(), Beyond: p.shared.Retries.beyond(a.pod.UID),
	}
	if seat, fixed := workload.Ordinal(a.pod, a.workload.FirstOrdinal); fixed {
		question.Seat = seat
	}
	if a.workload.ReplicasKnown {
		question.Plan = a.policy.Plan(a.workload.Replicas)
	}
	s.plan = question.Plan
	for s.Admission = admit.Answer(&question); s.Provisional(); {
		s.Resolve(s.fitting(newGuest(a.pod, p.handle.SharedDRAManager()), a.nodes))
	}
}

// held returns how many siblings of the pod each cluster of the policy holds.
func (s *state) held() []int32 {
	held := s.few[:]
	if n := s.policy.Order.Len(); n <= fewClusters {
		held = held[:n]
	} else {
		held = make([]int32, n)
	}
	for id, i := range s.clusters {
		if i >= 0 {
			held[i] = int32(s.counts.Held(int32(id)).Len())
		}
	}
	return held
}

// eligible returns which clusters of the policy are this scheduler's, nil for all.
func (s *state) eligible() []bool {
	if !s.shared {
		return nil
	}
	eligible := make([]bool, s.policy.Order.Len())
	for _, i := range s.clusters {
		if i >= 0 {
			eligible[i] = true
		}
	}
	return eligible
}

// fitting returns the cluster that the admission prefers among those with a node that can host the
// pod, as far as that is cheap to find out; admit.None if there is none.
func (s *state) fitting(g *guest, nodes []fwk.NodeInfo) int32 {
	best := admit.None
	for n, info := range nodes {
		cluster := s.clusterAt(n)
		if !s.Prefers(cluster, best) || !g.fits(info) {
			continue
		}
		if best = cluster; s.Rule != admit.ByTurn {
			break
		}
	}
	return best
}

// clusterAt returns the cluster of the n-th node of the snapshot.
func (s *state) clusterAt(n int) int32 {
	id := s.view.ClusterAt(n)
	if id < 0 || int(id) >= len(s.clusters) {
		return admit.None
	}
	return s.clusters[id]
}

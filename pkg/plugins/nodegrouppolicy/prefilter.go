// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy

import (
	"context"
	"math/bits"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/plugins/internal/catalog"
	"berth.dev/berth/pkg/plugins/internal/guard"
	"berth.dev/berth/pkg/plugins/internal/narrow"
	"berth.dev/berth/pkg/plugins/internal/view"
)

// PreFilter finds the policy of the pod and how far each of its clusters is from its share. Where that is
// quicker, it names the nodes that may take the pod, or some of them, to the framework, which then looks at no others.
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
		return nil, rejection(err)
	}
	if policy == nil {
		return nil, skip
	}
	if policy.Err != nil {
		return nil, reject(reasonPolicyInvalid)
	}

	s, names, sampled := p.shareOut(cycle, snapshot, policy, pod, w, nodes)
	cycle.Write(stateKey, s)
	if names == nil {
		return nil, nil
	}
	s.narrowed, s.sampled, s.result.NodeNames = true, sampled, names
	return &s.result, nil
}

// shareOut decides which clusters may take the pod, and names the nodes that the framework is to look at, see name.
func (p *NodeGroupPolicy) shareOut(
	cycle fwk.CycleState, snapshot *catalog.Snapshot, policy *policy.Policy, pod *corev1.Pod, w workload.Workload, nodes []fwk.NodeInfo,
) (s *state, names sets.Set[string], sampled bool) {
	// Most pods are placed by a sample of the nodes of their clusters, for which only these have to be looked at. That a pod has to
	// wait follows from a look at all nodes. Where a decision goes through the nodes anyway, a first one would be wasted.
	part := p.sampling && w.ReplicasKnown && policy.Strict() && !p.shared.Retries.Thorough(pod.UID) && !narrow.Particular(pod)
	started := p.shared.Clock.Now()
	s, whole := p.look(snapshot, policy, pod, nodes, part)
	recounted, took := s.view.Recounted(), p.shared.Clock.Since(started)
	names, sampled = p.judge(cycle, s, pod, w, nodes)
	if !whole && !sampled {
		started = p.shared.Clock.Now()
		s, _ = p.look(snapshot, policy, pod, nodes, false)
		recounted, took = recounted+s.view.Recounted(), took+p.shared.Clock.Since(started)
		names, sampled = p.judge(cycle, s, pod, w, nodes)
	}
	observeRecount(recounted, took)
	return s, names, sampled
}

// look brings the view up to date, if part is true as far as it concerns the clusters of the policy. Whole says whether all nodes have
// been looked at.
func (p *NodeGroupPolicy) look(
	snapshot *catalog.Snapshot, policy *policy.Policy, pod *corev1.Pod, nodes []fwk.NodeInfo, part bool,
) (s *state, whole bool) {
	s = &state{policy: policy, view: p.shared.View, seat: stamp.NoSeat, only: none}
	s.rejected = &s.ownRejected
	revision, owned := workload.RevisionOf(pod)
	if !owned {
		revision = view.BarePods(pod.Namespace, policy.Object.Name)
	}
	s.revision, s.owned = revision, owned
	var ids []int32
	s.clusters, ids = policy.Table(s.view.Clusters, s.view.ClusterID)
	if whole = !part; whole {
		s.view.Refresh(nodes, snapshot.Membership)
	} else {
		whole = s.view.RefreshClusters(nodes, snapshot.Membership, ids, p.shared.Clock.Now())
	}
	s.counts = s.view.Counts(revision)
	return s, whole
}

// judge fills in which clusters may take the pod, and returns the nodes that the framework is to look at, see name.
func (p *NodeGroupPolicy) judge(
	cycle fwk.CycleState, s *state, pod *corev1.Pod, w workload.Workload, nodes []fwk.NodeInfo,
) (names sets.Set[string], sampled bool) {
	if p.shared.Own != nil {
		s.keepTo(p.shared.Own(cycle))
	}
	p.decide(s, pod, w, nodes)
	return p.name(s, pod, nodes)
}

// keepTo leaves out the clusters that other schedulers look after: the pod is here because one of this scheduler's is to take it.
func (s *state) keepTo(own []bool, shared bool) {
	if !shared {
		return
	}
	kept := slices.Clone(s.clusters)
	for id := range kept {
		if id >= len(own) || !own[id] {
			kept[id] = none
		}
	}
	s.clusters, s.shared = kept, true
}

// decide fills in which clusters may take the pod.
func (p *NodeGroupPolicy) decide(s *state, pod *corev1.Pod, w workload.Workload, nodes []fwk.NodeInfo) {
	beyond := p.shared.Retries.Has(pod.UID)
	if seat, fixed := workload.Ordinal(pod, w.FirstOrdinal); fixed {
		s.decideFixed(seat)
	} else if w.ReplicasKnown {
		s.decideByShare(w.Replicas)
	} else {
		s.decideByTurn(newGuest(pod, p.handle.SharedDRAManager()), nodes, beyond)
		return
	}
	if s.policy.Strict() {
		return
	}
	// The clusters of the policy come before all other nodes. A score alone does not see to that: of many nodes the scheduler
	// looks only at some.
	for _, wider := range []admission{ofPolicy, anywhere} {
		if !beyond && s.anyAdmittedFits(newGuest(pod, p.handle.SharedDRAManager()), nodes) {
			return
		}
		s.admission = wider
	}
}

// decideFixed admits the cluster that owns the ordinal of the pod.
func (s *state) decideFixed(seat int32) {
	s.plan = s.planUpTo(seat)
	s.seat = seat
	s.admission = oneCluster
	if owner, found := s.plan.Owner(int64(seat)); found {
		s.only = int32(owner)
	}
}

// planUpTo returns a plan that reaches as far as the seat. Its size is a power of two, so that pods share a few plans; the
// owner of a seat is the same in all of them.
func (s *state) planUpTo(seat int32) *apportion.Plan {
	return s.policy.Plan(1 << min(bits.Len32(uint32(seat)), bits.Len32(apportion.MaxSeats-1)))
}

// decideByShare admits the clusters that hold fewer pods than their share of n replicas.
func (s *state) decideByShare(n int32) {
	s.plan = s.policy.Plan(n)
	s.admission = belowShare
	s.free = s.newFree()
	for id, i := range s.clusters {
		if i != none {
			s.free[i] = int32(s.plan.Free(int(i), s.counts.Held(int32(id))))
		}
	}
}

// decideByTurn admits, for workloads of an unknown number of replicas, the cluster that comes next in the seat order and
// has a node that can host the pod; all clusters of the policy if there is none, so that the other plugins tell why.
func (s *state) decideByTurn(g *guest, nodes []fwk.NodeInfo, beyond bool) {
	s.rankTurns()
	if !beyond {
		if s.only = s.nextTurn(g, nodes); s.only != none {
			s.admission = oneCluster
			return
		}
	}
	s.admission = belowMax
	if !s.policy.Strict() {
		s.admission = anywhere
	}
}

// rankTurns fills in s.free: the more, the earlier it is a cluster's turn, and nothing for clusters at their max.
func (s *state) rankTurns() {
	held := make([]int64, s.policy.Order.Len())
	for id, i := range s.clusters {
		if i == none {
			continue
		}
		if h := s.counts.Held(int32(id)); h != nil {
			held[i] = int64(h.Len())
		}
	}
	ranking := s.policy.Order.Ranking(held)
	s.free = s.newFree()
	for turn, i := range ranking {
		s.free[i] = int32(len(ranking) - turn)
	}
}

// nextTurn returns the first cluster in turn that has a node which can host the pod, none if there is none.
func (s *state) nextTurn(g *guest, nodes []fwk.NodeInfo) int32 {
	best, turn := none, int32(0)
	for n, info := range nodes {
		i := s.clusterAt(n)
		if i != none && s.free[i] > turn && g.fits(info) {
			best, turn = i, s.free[i]
		}
	}
	return best
}

// anyAdmittedFits reports whether some node of an admitted cluster can host the pod as far as that is cheap to tell.
func (s *state) anyAdmittedFits(g *guest, nodes []fwk.NodeInfo) bool {
	for n, info := range nodes {
		if s.admits(s.clusterAt(n)) && g.fits(info) {
			return true
		}
	}
	return false
}

// clusterAt returns the cluster of the n-th node of the snapshot.
func (s *state) clusterAt(n int) int32 {
	id := s.view.ClusterAt(n)
	if id < 0 || int(id) >= len(s.clusters) {
		return none
	}
	return s.clusters[id]
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy

import (
	"context"
	"errors"
	"math/bits"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/plugins/internal/cyclestate"
	"berth.dev/berth/pkg/plugins/internal/guard"
	"berth.dev/berth/pkg/plugins/internal/view"
)

// errSeatTaken says that the snapshot of this attempt lacks a seat that was given to another pod.
var errSeatTaken = errors.New("another pod has just been given the seat that was free")

// PreScore ranks the clusters of the feasible nodes by how many replicas they lack. It is skipped
// if that makes no difference.
func (p *NodeGroupPolicy) PreScore(
	ctx context.Context, cycle fwk.CycleState, _ *corev1.Pod, nodes []fwk.NodeInfo,
) (status *fwk.Status) {
	defer guard.Rescue(ctx, Name, "PreScore", &status)
	s, _ := p.kept.Read(cycle, stateKey).(*state)
	if s == nil {
		return skip
	}
	lacks := func(cluster int32) int64 { return int64(s.Free[cluster]) }
	if s.Free == nil {
		lacks = func(cluster int32) int64 {
			if cluster == s.Only {
				return 1
			}
			return 0
		}
	}
	if !s.rank(nodes, lacks) {
		return skip
	}
	return nil
}

// rank fills in the scores: 100 for the clusters that lack most, 0 for those that lack least, and
// no more for nodes in no cluster of the policy than for the fullest cluster. It reports whether
// the scores differ.
func (s *state) rank(nodes []fwk.NodeInfo, lacks func(cluster int32) int64) bool {
	var least, most int64
	seen, stray := false, false
	for _, info := range nodes {
		cluster := s.cluster(info.Node().Name)
		if cluster < 0 {
			stray = true
			continue
		}
		lack := lacks(cluster)
		if !seen {
			least, most, seen = lack, lack, true
		}
		least, most = min(least, lack), max(most, lack)
	}
	if stray {
		least--
	}
	if !seen || least == most {
		return false
	}
	s.scores = make([]int64, s.policy.Order.Len())
	for i := range s.scores {
		// Those of clusters without a feasible node may be out of range, but nobody asks for them.
		s.scores[i] = (lacks(int32(i)) - least) * fwk.MaxNodeScore / (most - least)
	}
	return true
}

// Score returns the rank of the node's cluster, the same for all nodes of a cluster.
func (p *NodeGroupPolicy) Score(
	ctx context.Context, cycle fwk.CycleState, _ *corev1.Pod, node fwk.NodeInfo,
) (score int64, status *fwk.Status) {
	defer guard.Rescue(ctx, Name, "Score", &status)
	s, _ := p.kept.Read(cycle, stateKey).(*state)
	if s == nil {
		return 0, cyclestate.Missing(stateKey)
	}
	cluster := s.cluster(node.Node().Name)
	if cluster < 0 {
		return 0, nil
	}
	return s.scores[cluster], nil
}

// ScoreExtensions returns nil: scores are in range from the start.
func (*NodeGroupPolicy) ScoreExtensions() fwk.ScoreExtensions {
	return nil
}

// Reserve gives the pod its seat: its ordinal, or the lowest free seat of the cluster it lands in.
func (p *NodeGroupPolicy) Reserve(
	ctx context.Context, cycle fwk.CycleState, pod *corev1.Pod, node string,
) (status *fwk.Status) {
	defer guard.Rescue(ctx, Name, "Reserve", &status)
	s, _ := p.kept.Read(cycle, stateKey).(*state)
	if s == nil {
		// No policy places the pod.
		return nil
	}
	given := stamp.Stamp{Policy: s.policy.Object.Name, Seat: stamp.NoSeat}
	if cluster := s.cluster(node); cluster >= 0 {
		given.Cluster = s.policy.Order.Name(int(cluster))
		given.Seat = s.seatIn(cluster)
	}
	if err := p.give(pod, s, given); err != nil {
		return fwk.AsStatus(err)
	}
	p.shared.Retries.Drop(pod.UID)
	p.placed(s, pod, s.cluster(node))
	return nil
}

// give remembers what the pod is given, unless its seat was chosen because it was free, and is so
// no longer.
func (p *NodeGroupPolicy) give(pod *corev1.Pod, s *state, given stamp.Stamp) error {
	if s.Seat >= 0 || given.Seat == stamp.NoSeat {
		p.shared.Reservations.Put(pod, given)
		return nil
	}
	seat := view.Seat{Revision: s.revision, Stamp: given}
	if p.shared.Elsewhere.Taken(pod.UID, seat) {
		return errSeatTaken
	}
	p.shared.Reservations.PutChosen(pod, seat)
	return nil
}

// seatIn returns the seat of the pod in a cluster, stamp.NoSeat if the cluster has none for it.
func (s *state) seatIn(cluster int32) int32 {
	held := s.counts.Held(s.view.ClusterID(s.policy.Order.Name(int(cluster))))
	switch {
	case s.Seat >= 0:
		if cluster == s.Only {
			return s.Seat
		}
	case s.plan != nil:
		if seat, free := s.plan.FirstFreeOf(int(cluster), held); free {
			return int32(seat)
		}
	default:
		// The next seat of the cluster is its last one if no lower seat has become free.
		last, found := s.policy.Order.SeatNumber(int(cluster), int64(held.Len()))
		if !found || last >= apportion.MaxSeats {
			return stamp.NoSeat
		}
		// Plans whose sizes are powers of two serve many pods; the owner of a seat is the same in
		// all of them.
		if seat, free := s.policy.Plan(1<<bits.Len64(uint64(last))).FirstFreeOf(int(cluster), held); free {
			return int32(seat)
		}
	}
	return stamp.NoSeat
}

// Unreserve forgets the seat, and lets another pod try for it. That of a binding with an unknown
// outcome comes back with the pod's stamp. A pod that was given none because somebody else has it
// leaves nothing free: others would try for it in turn, without end.
func (p *NodeGroupPolicy) Unreserve(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ string) {
	given := p.shared.Reservations.Drop(pod.UID)
	if revision, owned := workload.RevisionOf(pod); owned && given {
		p.shared.Waiting.Unplaced(pod, revision)
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clustermetrics

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/rank"
	"berth.dev/berth/pkg/plugins/internal/catalog"
	"berth.dev/berth/pkg/plugins/internal/cyclestate"
	"berth.dev/berth/pkg/plugins/internal/guard"
	"berth.dev/berth/pkg/plugins/internal/view"
)

// PreFilter ranks all Clusters once.
func (p *ClusterMetrics) PreFilter(
	ctx context.Context, cycle fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo,
) (result *fwk.PreFilterResult, status *fwk.Status) {
	defer guard.Rescue(ctx, Name, "PreFilter", &status)
	snapshot := p.shared.Catalog.Snapshot()
	if !mayAsk(snapshot, pod) {
		return nil, skip
	}
	if snapshot == nil {
		return nil, reject(errReasonUnreadable)
	}
	inForce, err := p.shared.constrainedBy(snapshot, pod)
	if err != nil {
		return nil, reject(errReasonPolicyUnknown)
	}
	wish, err := policy.WishOf(pod, inForce)
	if err != nil {
		return nil, reject(err.Error())
	}
	if wish == nil {
		return nil, skip
	}
	p.shared.View.Refresh(nodes, snapshot.Membership)
	s := p.rank(snapshot, pod, wish)
	p.kept.Write(cycle, stateKey, s, &s.entry)
	return nil, nil
}

// mayAsk reports whether a pod may ask for anything of clusters, by itself or by a policy of its
// namespace. It is the quick answer for the many pods that do not: policy.WishOf would return nil
// for them. Without a snapshot, which may be nil, only the pod itself can ask.
func mayAsk(snapshot *catalog.Snapshot, pod *corev1.Pod) bool {
	return rank.HasWish(pod.Annotations) || snapshot != nil && snapshot.Constrained(pod.Namespace)
}

// constrainedBy returns the policy in force for a pod if some policy of the namespace has
// constraints, else nil. The error is that of Snapshot.PolicyOf.
func (s *Shared) constrainedBy(snapshot *catalog.Snapshot, pod *corev1.Pod) (*policy.Policy, error) {
	if !snapshot.Constrained(pod.Namespace) {
		return nil, nil
	}
	inForce, _, err := snapshot.PolicyOf(pod, s.Owners)
	return inForce, err
}

// reject is the answer that no node will do. To evict pods cannot help.
func reject(reason string) *fwk.Status {
	return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, reason)
}

const stateKey fwk.StateKey = "PreFilter" + Name

// state is what PreFilter found out for one scheduling cycle. Nothing changes it but PreScore.
type state struct {
	view   *view.View
	ranked bool
	// verdicts are by the ID of the cluster in the view.
	verdicts []verdict
	// scores are by the standing of the cluster.
	scores []int64
	entry  cyclestate.Entry
}

// verdict is what became of a cluster.
type verdict struct {
	// rejection is why it cannot be chosen, empty if it can.
	rejection string
	// standing counts how many different scores are better, from 0 for the best clusters.
	standing int
}

// Clone returns a state of its own.
func (s *state) Clone() fwk.StateData {
	clone := *s
	return &clone
}

// rank ranks all Clusters for the pod.
func (p *ClusterMetrics) rank(snapshot *catalog.Snapshot, pod *corev1.Pod, wish *rank.Wish) *state {
	places := snapshot.Places()
	v := p.shared.View
	candidates := make([]rank.Candidate, 0, len(places))
	for name, place := range places {
		v.ClusterID(name)
		candidates = append(candidates, *place.Candidate(pod.Namespace))
	}
	request := rank.Query{UID: string(workload.Maker(pod)), Constraints: wish.Constraints}
	if wish.Ranked {
		sticky := rank.DefaultStickiness
		request.Stickiness, request.Current = &sticky, current(v, candidates, pod)
	}
	s := &state{view: v, ranked: wish.Ranked, verdicts: make([]verdict, v.Clusters())}
	for id := range s.verdicts {
		// Whatever else the view has met is no Cluster any more.
		s.verdicts[id].rejection = errReasonNoCluster
	}
	results := rank.Rank(&request, candidates)
	standing := 0
	for i := range results {
		r := &results[i]
		if i > 0 && !level(&results[i-1], r) {
			standing++
		}
		s.verdicts[v.ClusterID(r.Name)] = verdict{rejectionOf(r), standing}
	}
	return s
}

// level reports whether two clusters are equally good.
func level(a, b *rank.Ranked) bool {
	return a.Eligible == b.Eligible && a.Held == b.Held && a.Measured == b.Measured && a.Score == b.Score
}

func rejectionOf(r *rank.Ranked) string {
	if r.Eligible {
		return ""
	}
	return fmt.Sprintf(errReasonRejected, r.Rejections[0])
}

// current returns the cluster where most pods of the same revision run, empty if none do.
func current(v *view.View, candidates []rank.Candidate, pod *corev1.Pod) string {
	revision, owned := workload.RevisionOf(pod)
	if !owned {
		return ""
	}
	counts := v.Counts(revision)
	best, most := "", 0
	for i := range candidates {
		name := candidates[i].Name
		held := counts.Held(v.ClusterID(name))
		if held == nil || held.Len() == 0 {
			continue
		}
		if n := held.Len(); n > most || n == most && strings.Compare(name, best) < 0 {
			best, most = name, n
		}
	}
	return best
}

// Filter admits the nodes of Clusters that can be chosen.
func (p *ClusterMetrics) Filter(
	ctx context.Context, cycle fwk.CycleState, _ *corev1.Pod, node fwk.NodeInfo,
) (status *fwk.Status) {
	defer guard.Rescue(ctx, Name, "Filter", &status)
	s, _ := p.kept.Read(cycle, stateKey).(*state)
	if s == nil {
		return cyclestate.Missing(stateKey)
	}
	id := s.view.ClusterOfNode(node.Node().Name)
	if id < 0 || int(id) >= len(s.verdicts) {
		return reject(errReasonNoCluster)
	}
	if reason := s.verdicts[id].rejection; reason != "" {
		return reject(reason)
	}
	return nil
}

// PreFilterExtensions returns nil: which pods run on a node makes no difference.
func (*ClusterMetrics) PreFilterExtensions() fwk.PreFilterExtensions {
	return nil
}

// PreScore puts the clusters of the feasible nodes in order. It is skipped for pods that do not ask
// for that, and if they are all equally good.
func (p *ClusterMetrics) PreScore(
	ctx context.Context, cycle fwk.CycleState, _ *corev1.Pod, nodes []fwk.NodeInfo,
) (status *fwk.Status) {
	defer guard.Rescue(ctx, Name, "PreScore", &status)
	s, _ := p.kept.Read(cycle, stateKey).(*state)
	if s == nil || !s.ranked {
		return skip
	}
	present := make([]bool, len(s.verdicts)+1)
	for _, node := range nodes {
		if id := s.view.ClusterOfNode(node.Node().Name); id >= 0 && int(id) < len(s.verdicts) {
			present[s.verdicts[id].standing] = true
		}
	}
	levels := int64(0)
	for _, found := range present {
		if found {
			levels++
		}
	}
	if levels < 2 {
		return skip
	}
	// Scores of metrics are fractions, and whole numbers would make clusters equal that are not. So
	// the order counts: the best cluster gets all points and no other cluster does.
	s.scores = make([]int64, len(present))
	worse := int64(0)
	for standing, found := range present {
		if found {
			s.scores[standing] = fwk.MaxNodeScore * (levels - 1 - worse) / (levels - 1)
			worse++
		}
	}
	return nil
}

// Score returns the points of the node's cluster, the same for all nodes of a cluster.
func (p *ClusterMetrics) Score(
	ctx context.Context, cycle fwk.CycleState, _ *corev1.Pod, node fwk.NodeInfo,
) (score int64, status *fwk.Status) {
	defer guard.Rescue(ctx, Name, "Score", &status)
	s, _ := p.kept.Read(cycle, stateKey).(*state)
	if s == nil || s.scores == nil {
		return 0, cyclestate.Missing(stateKey)
	}
	id := s.view.ClusterOfNode(node.Node().Name)
	if id < 0 || int(id) >= len(s.verdicts) {
		return 0, nil
	}
	return s.scores[s.verdicts[id].standing], nil
}

// ScoreExtensions returns nil: scores are in range from the start.
func (*ClusterMetrics) ScoreExtensions() fwk.ScoreExtensions {
	return nil
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/plugins/internal/view"
)

const stateKey fwk.StateKey = "PreFilter" + Name

// none stands for no cluster of the policy.
const none int32 = -1

// admission tells which clusters may take the pod.
type admission int

const (
	// belowShare admits the clusters that are below their share.
	belowShare admission = iota
	// oneCluster admits only the cluster state.only.
	oneCluster
	// belowMax admits the clusters of the policy that have not reached their max.
	belowMax
	// ofPolicy admits all clusters of the policy.
	ofPolicy
	// anywhere admits every node.
	anywhere
)

// state is what PreFilter found out for one scheduling cycle.
type state struct {
	policy   *policy.Policy
	plan     *apportion.Plan // nil if the number of replicas is not known
	view     *view.View
	counts   *view.Counts
	revision workload.Revision
	owned    bool  // the pod has a controller, and revision is of it
	seat     int32 // the ordinal of the pod, or stamp.NoSeat

	admission admission
	only      int32
	clusters  []int32 // the policy's clusters by their ID in the view
	free      []int32 // by cluster of the policy: its share less what it holds
	narrowed  bool    // Filter is asked about nodes of admitted clusters only
	sampled   bool    // and not about all of these
	shared    bool    // clusters of other schedulers are left out

	// removed are the siblings that a dry run of preemption took away; they give no credit.
	removed map[types.UID]struct{}
	scores  []int64
	// rejected collects, as bits set atomically, the reasons that Filter gave with this state and its clones.
	rejected *uint32

	// What free, rejected and the answer of PreFilter point to, so that a state is one piece of memory.
	fewFree     [fewClusters]int32
	ownRejected uint32
	result      fwk.PreFilterResult
}

// fewClusters is how many clusters most policies have at most.
const fewClusters = 16

// newFree returns room for a number of each cluster of the policy.
func (s *state) newFree() []int32 {
	if n := s.policy.Order.Len(); n > fewClusters {
		return make([]int32, n)
	}
	return s.fewFree[:s.policy.Order.Len()]
}

// Clone copies what AddPod and RemovePod change; everything else is read only after PreFilter. It names the fields one by one,
// because Filter may be noting a reason in ownRejected for another node at this moment.
func (s *state) Clone() fwk.StateData {
	return &state{
		policy: s.policy, plan: s.plan, view: s.view, counts: s.counts, revision: s.revision, owned: s.owned, seat: s.seat,
		admission: s.admission, only: s.only, clusters: s.clusters, narrowed: s.narrowed, sampled: s.sampled,
		scores: s.scores, rejected: s.rejected,
		free: slices.Clone(s.free), removed: maps.Clone(s.removed),
	}
}

// cluster returns which cluster of the policy the node lies in, none if in no cluster of it.
func (s *state) cluster(node string) int32 {
	id := s.view.ClusterOfNode(node)
	if id < 0 || int(id) >= len(s.clusters) {
		return none
	}
	return s.clusters[id]
}

// sibling reports whether another pod counts against the same share.
func (s *state) sibling(pod, other *corev1.Pod) bool {
	if other.UID == pod.UID || other.Namespace != pod.Namespace {
		return false
	}
	revision, owned := workload.RevisionOf(other)
	return owned && revision == s.revision
}

// stateOf returns the state of this cycle, nil if PreFilter skipped or rejected the pod.
func stateOf(cycle fwk.CycleState) *state {
	data, err := cycle.Read(stateKey)
	if err != nil {
		return nil
	}
	s, _ := data.(*state)
	return s
}

// Concerns says whether the pod of a cycle has a policy.
func Concerns(cycle fwk.CycleState) bool {
	return stateOf(cycle) != nil
}

// errNoState is a fault of the framework or of this plugin.
var errNoState = fmt.Errorf("%q is not in the cycle state", stateKey)

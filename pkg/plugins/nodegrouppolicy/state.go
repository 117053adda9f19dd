// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/admit"
	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/plugins/internal/cyclestate"
	"berth.dev/berth/pkg/plugins/internal/view"
)

const stateKey fwk.StateKey = "PreFilter" + Name

// state is what PreFilter found out for one scheduling cycle.
type state struct {
	// Admission is which clusters of the policy may take the pod.
	admit.Admission

	policy   *policy.Policy
	plan     *apportion.Plan // nil if the number of replicas is not known
	view     *view.View
	counts   *view.Counts
	revision workload.Revision
	owned    bool    // the pod has a controller, and revision is of it
	clusters []int32 // the policy's clusters by their ID in the view, admit.Closed where cordoned
	shared   bool    // clusters of other schedulers are left out
	sampled  bool    // the framework looks at a sample of the nodes that may take the pod

	// removed are the siblings that a dry run of preemption took away; they give no credit.
	removed map[types.UID]struct{}
	scores  []int64
	// rejected collects, as bits set atomically, the reasons that Filter gave with this state and
	// its clones.
	rejected *uint32

	// What Free, rejected and the answer of PreFilter point to, so that a state is one piece of
	// memory.
	few         [fewClusters]int32
	ownRejected uint32
	result      fwk.PreFilterResult
	entry       cyclestate.Entry
}

// fewClusters is how many clusters most policies have at most.
const fewClusters = 16

// Clone copies what AddPod and RemovePod change; everything else is read only after PreFilter. It
// names the fields one by one, because Filter may be noting a reason in ownRejected for another
// node at this moment.
func (s *state) Clone() fwk.StateData {
	clone := &state{
		Admission: s.Admission, policy: s.policy, plan: s.plan, view: s.view, counts: s.counts, revision: s.revision,
		owned: s.owned, clusters: s.clusters, sampled: s.sampled, scores: s.scores, rejected: s.rejected,
		removed: maps.Clone(s.removed),
	}
	clone.Free = slices.Clone(s.Free)
	return clone
}

// narrowed reports whether the framework looks at nodes of admitted clusters only.
func (s *state) narrowed() bool {
	return s.result.NodeNames != nil
}

// cluster returns which cluster of the policy the node lies in, admit.None if in no cluster of it,
// and admit.Closed if in one that is cordoned.
func (s *state) cluster(node string) int32 {
	id := s.view.ClusterOfNode(node)
	if id < 0 || int(id) >= len(s.clusters) {
		return admit.None
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

// Left returns the names of the nodes that the policy of a pod leaves to it in a cycle, as far as
// these are named; nil if they are not, or if only some of them are. They must not be changed.
func Left(cycle fwk.CycleState) sets.Set[string] {
	if s := cyclestate.Read[*state](cycle, stateKey); s != nil && !s.sampled {
		return s.result.NodeNames
	}
	return nil
}

// Concerns reports whether the pod of a cycle has a policy.
func Concerns(cycle fwk.CycleState) bool {
	return cyclestate.Read[*state](cycle, stateKey) != nil
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/pkg/placement/admit"
	"berth.dev/berth/pkg/plugins/internal/catalog"
	"berth.dev/berth/pkg/plugins/internal/cyclestate"
	"berth.dev/berth/pkg/plugins/internal/view"
)

const cordonKey fwk.StateKey = "PreFilterCordon" + Name

// cordonState keeps a pod that no policy places away from clusters that are cordoned. Nothing
// changes it.
type cordonState struct {
	view *view.View
	// closed are the cordoned clusters, by their ID in the view.
	closed []bool
}

// Clone returns the state itself.
func (s *cordonState) Clone() fwk.StateData { return s }

// closedIn returns which clusters are cordoned, by their ID in the view; nil if none is.
func closedIn(v *view.View, snapshot *catalog.Snapshot) []bool {
	if len(snapshot.Cordoned) == 0 {
		return nil
	}
	var closed []bool
	for name := range snapshot.Cordoned {
		id := int(v.ClusterID(name))
		if missing := id + 1 - len(closed); missing > 0 {
			closed = append(closed, make([]bool, missing)...)
		}
		closed[id] = true
	}
	return closed
}

// closeTo notes which clusters are cordoned. All of them have an ID already.
func (s *state) closeTo(closed []bool) {
	s.clusters = slices.Clone(s.clusters)
	for id, cordoned := range closed {
		if cordoned {
			s.clusters[id] = admit.Closed
		}
	}
}

// keepOff keeps a pod without a policy away from cordoned clusters, unless it tolerates that as it
// would on a node.
func (p *NodeGroupPolicy) keepOff(cycle fwk.CycleState, snapshot *catalog.Snapshot, pod *corev1.Pod, nodes []fwk.NodeInfo) *fwk.Status {
	closed := closedIn(p.shared.View, snapshot)
	if closed == nil || corev1helpers.TolerationsTolerateTaint(klog.Background(), pod.Spec.Tolerations, cordon, false) {
		return skip
	}
	p.shared.View.Refresh(nodes, snapshot.Membership)
	cycle.Write(cordonKey, &cordonState{view: p.shared.View, closed: closed})
	return nil
}

// unknown answers for a pod of which it cannot be told which policy is in force.
func (p *NodeGroupPolicy) unknown(
	cycle fwk.CycleState, snapshot *catalog.Snapshot, pod *corev1.Pod, nodes []fwk.NodeInfo, err error,
) *fwk.Status {
	if Policyless(snapshot, pod) {
		return p.keepOff(cycle, snapshot, pod, nodes)
	}
	return rejection(err)
}

// filterWithoutPolicy is Filter for a pod that no policy places.
func filterWithoutPolicy(cycle fwk.CycleState, node fwk.NodeInfo) *fwk.Status {
	s := cyclestate.Read[*cordonState](cycle, cordonKey)
	if s == nil {
		return cyclestate.Missing(stateKey)
	}
	if id := s.view.ClusterOfNode(node.Node().Name); id >= 0 && int(id) < len(s.closed) && s.closed[id] {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, errReasonCordoned)
	}
	return nil
}

// missingWithPolicy is the answer of what does nothing for a pod that no policy places, and cannot
// do without the state of one that has a policy.
func missingWithPolicy(cycle fwk.CycleState) *fwk.Status {
	if cyclestate.Read[*cordonState](cycle, cordonKey) != nil {
		return nil
	}
	return cyclestate.Missing(stateKey)
}

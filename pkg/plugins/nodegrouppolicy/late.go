// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/pkg/placement/admit"
	"berth.dev/berth/pkg/plugins/internal/ledger"
)

// contended reports whether a Binding of the scheduler before may take the seat that the pod would
// get. Then the pods that it may bind are settled, and the pod is tried again.
func (p *NodeGroupPolicy) contended(s *state, pod *corev1.Pod) bool {
	rest := p.shared.Late.Rest(pod, p.shows)
	succession := admit.Succession{
		Held: make([]int32, s.policy.Order.Len()), Claimants: rest.Claimants, Missing: rest.Missing,
	}
	for node, pods := range rest.Held {
		if cluster := s.cluster(node); cluster >= 0 {
			succession.Held[cluster] += pods
		}
	}
	question := admit.Question{Order: s.policy.Order, Plan: s.plan, Seat: s.Seat, Eligible: s.eligible()}
	if rest.Listed && !succession.Contended(&question) {
		p.shared.Late.Passed(pod.UID)
		return false
	}
	p.shared.Late.TurnAway(pod)
	return true
}

// shows reports whether the snapshot shows a pod on a node. Where the node is gone, it suffices
// that the informer knows the pod as bound.
func (p *NodeGroupPolicy) shows(pod ledger.PodRef, node string) bool {
	info, err := p.handle.SnapshotSharedLister().NodeInfos().Get(node)
	if err != nil {
		known := p.shared.Pod(pod.Namespace, pod.Name)
		return known != nil && known.UID == pod.UID && known.Spec.NodeName == node
	}
	return slices.ContainsFunc(info.GetPods(), func(other fwk.PodInfo) bool { return other.GetPod().UID == pod.UID })
}

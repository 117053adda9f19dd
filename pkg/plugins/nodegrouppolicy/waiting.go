// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy

import (
	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/pkg/plugins/internal/waitlist"
)

// wait notes that a pod found no place in the shares of its policy, if that is what it waits for.
func (p *NodeGroupPolicy) wait(s *state, pod *corev1.Pod) {
	if s.admission != belowShare || !s.owned {
		p.shared.Waiting.Drop(pod.UID)
		return
	}
	p.shared.Waiting.Rejected(pod, s.revision, func(freed *corev1.Pod) waitlist.Sight { return p.see(s, pod, freed) })
}

// placed notes that a pod goes to a node of a cluster of its policy, or to one of none.
func (p *NodeGroupPolicy) placed(s *state, pod *corev1.Pod, cluster int32) {
	p.shared.Waiting.Placed(pod.UID, func(freed *corev1.Pod) waitlist.Sight {
		sight := p.see(s, pod, freed)
		if cluster != none && cluster == sight.Cluster {
			sight.Free--
		}
		return sight
	})
}

// see tells what a cycle saw of the place of a sibling that gave it up, before the pod itself took one.
func (p *NodeGroupPolicy) see(s *state, pod, freed *corev1.Pod) waitlist.Sight {
	info, err := p.handle.SnapshotSharedLister().NodeInfos().Get(freed.Spec.NodeName)
	if err == nil && holds(info, func(other *corev1.Pod) bool {
		return other.UID == freed.UID && other.DeletionTimestamp == nil && s.sibling(pod, other)
	}) {
		return waitlist.Sight{}
	}
	sight := waitlist.Sight{Seen: true, Cluster: s.cluster(freed.Spec.NodeName)}
	if sight.Cluster != none && s.free != nil {
		sight.Free = int(s.free[sight.Cluster])
	}
	return sight
}

func holds(info fwk.NodeInfo, one func(*corev1.Pod) bool) bool {
	for _, pod := range info.GetPods() {
		if one(pod.GetPod()) {
			return true
		}
	}
	return false
}

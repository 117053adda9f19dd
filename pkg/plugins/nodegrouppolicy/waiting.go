// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/admit"
	"berth.dev/berth/pkg/plugins/internal/waitlist"
)

// rejectedPod reports whether Filter, or the choice of nodes in PreFilter, had a part in that a pod
// found no node. Only then the queue asks the hint of the plugin about it.
func (s *state) rejectedPod(statuses fwk.NodeToStatusReader) bool {
	// The name of no node stands for all nodes that Filter was not asked about.
	if by := statuses.Get("").Plugin(); by != "" && by != Name {
		return false // in PreFilter
	}
	return s.narrowed() || *s.rejected != 0
}

// wait notes that a pod found no place in the shares of its policy, if that is what it waits for.
// Ours reports whether the plugin had a part in it.
func (p *NodeGroupPolicy) wait(s *state, pod *corev1.Pod, ours bool) {
	if !ours || s.Rule != admit.BelowShare || !s.owned {
		p.shared.Waiting.Drop(pod.UID)
		return
	}
	p.shared.Waiting.Rejected(pod, s.revision, func(freed *corev1.Pod) waitlist.Sight { return p.see(s, freed) })
	if now := p.shared.Pod(pod.Namespace, pod.Name); now == nil || now.UID != pod.UID || now.Spec.NodeName != "" {
		// It went while it was tried, and nobody will say so again.
		p.shared.Waiting.Drop(pod.UID)
	}
}

// placed notes that a pod goes to a node of a cluster of its policy, or to one of none.
func (p *NodeGroupPolicy) placed(s *state, pod *corev1.Pod, cluster int32) {
	p.shared.Waiting.Placed(pod.UID, func(freed *corev1.Pod) waitlist.Sight {
		sight := p.see(s, freed)
		if cluster >= 0 && cluster == sight.Cluster {
			sight.Free--
		}
		return sight
	})
}

// see tells what a cycle saw of the place of a sibling that gave it up, before the pod itself took
// one.
func (p *NodeGroupPolicy) see(s *state, freed *corev1.Pod) waitlist.Sight {
	sight := waitlist.Sight{Seen: true, Cluster: s.clusterOf(freed)}
	if sight.Cluster != admit.None && s.view.Counted(freed, s.revision) {
		return waitlist.Sight{}
	}
	if sight.Cluster != admit.None && s.Free != nil {
		sight.Free = int(s.Free[sight.Cluster])
	}
	return sight
}

// clusterOf returns the cluster of the policy in which a pod has, or had, its place; admit.None if
// in no cluster of it.
func (s *state) clusterOf(pod *corev1.Pod) int32 {
	if cluster := s.cluster(cmp.Or(pod.Spec.NodeName, pod.Status.NominatedNodeName)); cluster >= 0 {
		return cluster
	}
	// The node may have gone.
	given, _ := stamp.Of(pod)
	if i, found := s.policy.Order.Index(given.Cluster); found {
		return int32(i)
	}
	return admit.None
}

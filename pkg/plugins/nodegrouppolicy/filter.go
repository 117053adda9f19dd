// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"berth.dev/berth/pkg/placement/admit"
	"berth.dev/berth/pkg/plugins/internal/guard"
	"berth.dev/berth/pkg/plugins/internal/narrow"
)

// Filter admits nodes of the clusters that may take the pod. Its rejections cannot be resolved by
// evicting pods: taking the place of a sibling would not bring the workload any nearer to its
// shares.
func (p *NodeGroupPolicy) Filter(
	ctx context.Context, cycle fwk.CycleState, _ *corev1.Pod, node fwk.NodeInfo,
) (status *fwk.Status) {
	defer guard.Rescue(ctx, Name, "Filter", &status)
	s, _ := p.kept.Read(cycle, stateKey).(*state)
	if s == nil {
		return filterWithoutPolicy(cycle, node)
	}
	cluster := s.cluster(node.Node().Name)
	if s.Admits(cluster) {
		return nil
	}
	return s.rejection(cluster)
}

// PreFilterExtensions returns the plugin itself.
func (p *NodeGroupPolicy) PreFilterExtensions() fwk.PreFilterExtensions {
	return p
}

// AddPod counts a nominated sibling, or one that a dry run of preemption puts back.
func (p *NodeGroupPolicy) AddPod(
	ctx context.Context, cycle fwk.CycleState, pod *corev1.Pod, added fwk.PodInfo, node fwk.NodeInfo,
) (status *fwk.Status) {
	defer guard.Rescue(ctx, Name, "AddPod", &status)
	s, _ := p.kept.Read(cycle, stateKey).(*state)
	if s == nil {
		return missingWithPolicy(cycle)
	}
	other := added.GetPod()
	if s.Rule != admit.BelowShare || !s.sibling(pod, other) {
		return nil
	}
	if _, putBack := s.removed[other.UID]; putBack {
		delete(s.removed, other.UID)
		return nil
	}
	if cluster := s.cluster(node.Node().Name); cluster >= 0 {
		s.Free[cluster]--
	}
	return nil
}

// RemovePod notes which siblings a dry run of preemption takes away, and gives no credit for them:
// a pod must never preempt a sibling only to take its place in the share.
func (p *NodeGroupPolicy) RemovePod(
	ctx context.Context, cycle fwk.CycleState, pod *corev1.Pod, removed fwk.PodInfo, _ fwk.NodeInfo,
) (status *fwk.Status) {
	defer guard.Rescue(ctx, Name, "RemovePod", &status)
	s, _ := p.kept.Read(cycle, stateKey).(*state)
	if s == nil {
		return missingWithPolicy(cycle)
	}
	other := removed.GetPod()
	if s.sibling(pod, other) {
		if s.removed == nil {
			s.removed = map[types.UID]struct{}{}
		}
		s.removed[other.UID] = struct{}{}
	}
	return nil
}

// PostFilter sends a pod that found no room among some nodes of its clusters through another cycle
// that looks at all of them, and one that found no room where it should go, but may go elsewhere,
// through another cycle that admits the other clusters. For all other pods it leaves the matter to
// the plugins behind it, except for those that PreFilter rejected: nothing helps them, and the
// plugins behind could only tell that they have not been asked before.
func (p *NodeGroupPolicy) PostFilter(
	ctx context.Context, cycle fwk.CycleState, pod *corev1.Pod, statuses fwk.NodeToStatusReader,
) (result *fwk.PostFilterResult, status *fwk.Status) {
	defer guard.Rescue(ctx, Name, "PostFilter", &status)
	s, _ := p.kept.Read(cycle, stateKey).(*state)
	if s == nil {
		p.shared.Waiting.Drop(pod.UID)
		// The name of no node stands for all nodes that Filter was not asked about.
		if statuses.Get("").Plugin() == Name {
			return framework.NewPostFilterResultWithNominatedNode(""), fwk.NewStatus(fwk.UnschedulableAndUnresolvable)
		}
		return nil, fwk.NewStatus(fwk.Unschedulable)
	}
	if s.sampled {
		p.shared.Retries.AddThorough(pod.UID)
		p.shared.Waiting.Again(pod.UID)
		return nil, narrow.Retry(ctx, p.handle, pod, errReasonLookFurther)
	}
	ours := s.rejectedPod(statuses)
	if s.narrowed() {
		if nodes, err := p.handle.SnapshotSharedLister().NodeInfos().List(); err == nil {
			s.explain(nodes, statuses)
		}
	}
	s.countRejections()
	if !s.Widens() {
		p.shared.Retries.fail(pod.UID)
		p.wait(s, pod, ours)
		return nil, fwk.NewStatus(fwk.Unschedulable)
	}
	p.shared.Waiting.Drop(pod.UID)
	p.shared.Retries.Add(pod.UID)
	return nil, narrow.Retry(ctx, p.handle, pod, errReasonBeyondShare)
}

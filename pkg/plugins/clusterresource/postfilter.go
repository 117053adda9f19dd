// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"berth.dev/berth/pkg/model/demand"
	"berth.dev/berth/pkg/plugins/clusterresource/internal/preemption"
	"berth.dev/berth/pkg/plugins/internal/guard"
	"berth.dev/berth/pkg/plugins/internal/narrow"
)

// PostFilter lets holders of lower priority, on whatever node, make way for a pod that found a pool
// used up.
func (p *ClusterResource) PostFilter(
	ctx context.Context, cycle fwk.CycleState, pod *corev1.Pod, nodes fwk.NodeToStatusReader,
) (result *fwk.PostFilterResult, status *fwk.Status) {
	defer guard.Rescue(ctx, Name, "PostFilter", &status)
	s, _ := p.kept.Read(cycle, stateKey).(*state)
	if s == nil {
		return nil, p.afterPreFilter(pod)
	}
	if s.sampled {
		p.shared.Retries.AddThorough(pod.UID)
		p.shared.Waiting.Again(pod.UID)
		return nil, narrow.Retry(ctx, p.handle, pod, errReasonLookFurther)
	}
	existing, candidates, err := p.candidates(s, nodes)
	if err != nil {
		return nil, fwk.AsStatus(err)
	}
	lacking, ungranted := s.lacking(candidates)
	if len(lacking) == 0 && !ungranted {
		if !p.awaitsVictims(pod) {
			p.shared.Earmarks.Drop(pod.UID) // it cannot use what is kept for it
		}
		p.shared.Waiting.Rejected(pod, nil, false, s.seen)
		return nil, fwk.NewStatus(p.without(s))
	}
	p.shared.Waiting.Rejected(pod, needsOf(pod, s, existing, p.shared.Left(cycle)), s.usedUpEverywhere(), s.seen)
	// Nobody makes way while other schedulers have something left.
	if ungranted || !preempts(pod) {
		return nil, fwk.NewStatus(p.without(s))
	}
	node, outcome := p.preemptor.Preempt(ctx, cycle, pod, lacking)
	switch outcome {
	case preemption.Preempting:
		return framework.NewPostFilterResultWithNominatedNode(node), nil
	case preemption.ReleaseSuffices:
		// Another PostFilter plugin would find somebody to kill.
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, errReasonAwaitingRelease)
	default:
		return nil, fwk.NewStatus(p.without(s), errReasonNoVictims)
	}
}

// afterPreFilter is the answer for a pod of which PreFilter has kept nothing.
func (p *ClusterResource) afterPreFilter(pod *corev1.Pod) *fwk.Status {
	if requests, err := demand.Of(pod); err == nil && len(requests) == 0 {
		return fwk.NewStatus(fwk.Unschedulable)
	}
	// PreFilter rejected the pod for good. Nobody can make way for it, and plugins that come later
	// would fail for want of what their own PreFilter did not get to write. Nor can it use what is
	// kept for it, if it was another plugin.
	if p.unready(pod, p.shared.Catalog.Snapshot()) == nil {
		p.shared.Earmarks.Drop(pod.UID)
	}
	return fwk.NewStatus(fwk.UnschedulableAndUnresolvable)
}

// awaitsVictims reports whether pods make way for a pod on the node to which it is nominated.
func (p *ClusterResource) awaitsVictims(pod *corev1.Pod) bool {
	if pod.Status.NominatedNodeName == "" {
		return false
	}
	info, err := p.handle.SnapshotSharedLister().NodeInfos().Get(pod.Status.NominatedNodeName)
	return err == nil && slices.ContainsFunc(info.GetPods(), func(other fwk.PodInfo) bool {
		victim := other.GetPod()
		return victim.DeletionTimestamp != nil && corev1helpers.PodPriority(victim) < corev1helpers.PodPriority(pod)
	})
}

// preempts reports whether others may be made to make way for a pod.
func preempts(pod *corev1.Pod) bool {
	return pod.Spec.PreemptionPolicy == nil || *pod.Spec.PreemptionPolicy != corev1.PreemptNever
}

// candidates returns all nodes, and those on which it may help that pods make way.
func (p *ClusterResource) candidates(
	s *state, nodes fwk.NodeToStatusReader,
) (existing, candidates []fwk.NodeInfo, err error) {
	all := p.handle.SnapshotSharedLister().NodeInfos()
	if existing, err = all.List(); err != nil {
		return nil, nil, err
	}
	s.explain(existing, nodes)
	candidates, err = nodes.NodesForStatusCode(all, fwk.Unschedulable)
	return existing, candidates, err
}

// lacking returns the nodes on which a pool is used up that would suffice, and whether there are
// others for which only grants are.
func (s *state) lacking(nodes []fwk.NodeInfo) (lacking []fwk.NodeInfo, grants bool) {
	for _, info := range nodes {
		worst := admitted
		for i := range s.claims {
			worst = max(worst, s.claims[i].at(info.Node().Name))
		}
		if worst == usedUp {
			lacking = append(lacking, info)
		}
		grants = grants || worst == ungranted
	}
	return lacking, grants
}

// without is the answer when nobody makes way. It decides whether the PostFilter plugins that come
// later are asked, which look at each node by itself:
//   - Every node lacks a ClusterResource: they could not help, so the answer is final.
//   - On some node something else than a pool is in the way: they may help.
//   - Pods wait for permission, as the members of a gang do until the last one has a node: a plugin
//     that places gangs must hear that this one found none, or the others would keep what they have
//     for nothing.
func (p *ClusterResource) without(s *state) fwk.Code {
	together := false
	p.handle.IterateOverWaitingPods(func(fwk.WaitingPod) { together = true })
	if s.usedUpEverywhere() && !together {
		return fwk.UnschedulableAndUnresolvable
	}
	return fwk.Unschedulable
}

// usedUpEverywhere reports whether no node has enough of some ClusterResource.
func (s *state) usedUpEverywhere() bool {
	for i := range s.claims {
		if _, everywhere := s.claims[i].everywhere(); everywhere {
			return true
		}
	}
	return false
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"berth.dev/berth/pkg/model/demand"
	"berth.dev/berth/pkg/plugins/internal/guard"
	"berth.dev/berth/pkg/plugins/internal/narrow"
)

// earmarkTime is how long what victims give back is kept beyond the time they have to end.
const earmarkTime = time.Minute

// PostFilter lets holders of lower priority, on whatever node, make way for a pod that found a pool used up.
func (p *ClusterResource) PostFilter(
	ctx context.Context, cycle fwk.CycleState, pod *corev1.Pod, nodes fwk.NodeToStatusReader,
) (result *fwk.PostFilterResult, status *fwk.Status) {
	defer guard.Rescue(ctx, Name, "PostFilter", &status)
	s := stateOf(cycle)
	if s == nil {
		if requests, err := demand.Of(pod); err == nil && len(requests) == 0 {
			return nil, fwk.NewStatus(fwk.Unschedulable)
		}
		// PreFilter rejected the pod for good. Nobody can make way for it, and plugins that come later would fail for want of
		// what their own PreFilter did not get to write.
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable)
	}
	if s.sampled {
		p.shared.Retries.AddThorough(pod.UID)
		return nil, narrow.Retry(ctx, p.handle, pod, ErrReasonLookFurther)
	}
	existing, candidates, err := p.candidates(s, nodes)
	if err != nil {
		return nil, fwk.AsStatus(err)
	}
	lacking, ungranted := s.lacking(candidates)
	if len(lacking) == 0 && !ungranted {
		return nil, fwk.NewStatus(p.without(s))
	}
	p.shared.Waiting.Rejected(pod, needsOf(pod, s, existing), s.usedUpEverywhere())
	// Nobody makes way while other schedulers have something left.
	if ungranted || !preempts(pod) {
		return nil, fwk.NewStatus(p.without(s))
	}
	d := p.newDryRun(cycle, pod, s)
	if d.releaseSuffices(ctx, lacking) {
		// Another PostFilter plugin would find somebody to kill.
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, ErrReasonAwaitingRelease)
	}
	plan := d.best(ctx, lacking)
	if plan == nil {
		p.shared.Earmarks.Drop(pod.UID)
		return nil, fwk.NewStatus(p.without(s), ErrReasonNoVictims)
	}
	p.carryOut(ctx, pod, plan)
	return framework.NewPostFilterResultWithNominatedNode(plan.node), nil
}

// preempts says whether others may be made to make way for a pod.
func preempts(pod *corev1.Pod) bool {
	return pod.Spec.PreemptionPolicy == nil || *pod.Spec.PreemptionPolicy != corev1.PreemptNever
}

// candidates returns all nodes, and those on which it may help that pods make way.
func (p *ClusterResource) candidates(s *state, nodes fwk.NodeToStatusReader) (existing, candidates []fwk.NodeInfo, err error) {
	all := p.handle.SnapshotSharedLister().NodeInfos()
	if existing, err = all.List(); err != nil {
		return nil, nil, err
	}
	s.explain(existing, nodes)
	candidates, err = nodes.NodesForStatusCode(all, fwk.Unschedulable)
	return existing, candidates, err
}

// lacking returns the nodes on which a pool is used up that would suffice, and whether there are others for which only grants are.
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

// without is the answer when nobody makes way: the other PostFilter plugins, which look at each node by itself, need only be
// asked if there are nodes on which something else than a pool is in the way. But while pods wait for permission, a plugin
// that places pods together must hear that one of them found nothing, or the others would hold what they have for nothing.
func (p *ClusterResource) without(s *state) fwk.Code {
	together := false
	p.handle.IterateOverWaitingPods(func(fwk.WaitingPod) { together = true })
	if s.usedUpEverywhere() && !together {
		return fwk.UnschedulableAndUnresolvable
	}
	return fwk.Unschedulable
}

// usedUpEverywhere says whether no node has enough of some ClusterResource.
func (s *state) usedUpEverywhere() bool {
	for i := range s.claims {
		if _, everywhere := s.claims[i].everywhere(); everywhere {
			return true
		}
	}
	return false
}

// carryOut keeps for the pod what the victims give back, and deletes them in the background. Until that is done the pod is
// held back; then it waits like any other, with what was freed for it kept.
func (p *ClusterResource) carryOut(ctx context.Context, pod *corev1.Pod, plan *plan) {
	grace := int64(0)
	for _, victim := range plan.victims {
		if seconds := victim.Spec.TerminationGracePeriodSeconds; seconds != nil {
			grace = max(grace, *seconds)
		}
	}
	until := p.shared.Clock.Now().Add(time.Duration(grace)*time.Second + earmarkTime)
	p.shared.Earmarks.put(pod, plan, until)
	preemptedPods.Add(float64(len(plan.victims)))
	go p.evict(context.WithoutCancel(ctx), pod, plan)
}

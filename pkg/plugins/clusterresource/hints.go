// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/pkg/model/demand"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/internal/guard"
)

// EventsToRegister names what can help a pod that this plugin rejected. Changes of ClusterResources
// are not among them: those wake the pods they concern directly.
func (p *ClusterResource) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{
		// No narrower event tells that the annotations of a waiting pod have changed.
		{
			Event:          fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Update | fwk.Delete},
			QueueingHintFn: guard.Hint(Name, p.isSchedulableAfterPodChange),
		},
		{
			Event:          fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.UpdateNodeLabel},
			QueueingHintFn: guard.Hint(Name, p.isSchedulableAfterNodeChange),
		},
	}, nil
}

// isSchedulableAfterPodChange wakes the pod when it asks for something else, and when a release was
// chosen to serve it.
func (p *ClusterResource) isSchedulableAfterPodChange(logger klog.Logger, pod, before, after *corev1.Pod) fwk.QueueingHint {
	switch {
	case before == nil:
		return fwk.QueueSkip
	case before.UID == pod.UID:
		if after != nil && asksDifferently(before, after) {
			return fwk.Queue
		}
		return fwk.QueueSkip
	case after != nil:
		return fwk.QueueSkip
	case before.Spec.NodeName == "":
		return p.afterNomination(pod, before)
	}
	if !p.servedBy(pod, before) {
		return fwk.QueueSkip
	}
	logger.V(5).Info("What a pod held can serve the pod", "pod", klog.KObj(pod), "holder", klog.KObj(before))
	return fwk.Queue
}

// afterNomination reports whether a pod should be tried that may have been rejected because another
// one was nominated to a node, which it is no longer. Pods that had no chance without that one wait
// for a release.
func (p *ClusterResource) afterNomination(pod, nominated *corev1.Pod) fwk.QueueingHint {
	if nominated.Status.NominatedNodeName == "" || p.shared.Waiting.Has(pod.UID) {
		return fwk.QueueSkip
	}
	wants, errWants := demand.Of(pod)
	held, errHeld := demand.Of(nominated)
	if errWants != nil || errHeld != nil || !overlap(wants, held) {
		return fwk.QueueSkip
	}
	return fwk.Queue
}

// servedBy reports whether what a pod held that is gone was chosen to serve the pod. What an
// attempt that failed had reserved has been given back already, and what a pod that somebody else
// placed was charged is known to the ledger only.
func (p *ClusterResource) servedBy(pod, gone *corev1.Pod) bool {
	wants, err := demand.Of(pod)
	if err != nil {
		return false
	}
	charges, pinned := stamp.ChargesOf(gone)
	if pinned {
		if !slices.ContainsFunc(charges, func(c pool.Charge) bool { return asks(wants, c.Resource) }) {
			return false
		}
	} else if held, err := demand.Of(gone); err != nil || !overlap(wants, held) {
		return false
	}
	return p.shared.Waiting.WokenBy(pod, gone, charges)
}

func asks(requests []pool.Request, resource string) bool {
	return slices.ContainsFunc(requests, func(r pool.Request) bool { return r.Resource == resource })
}

// asksForAny reports whether a pod asks for one of the ClusterResources.
func asksForAny(pod *corev1.Pod, one func(resource string) bool) bool {
	wants, err := demand.Of(pod)
	return err == nil && slices.ContainsFunc(wants, func(r pool.Request) bool { return one(r.Resource) })
}

func overlap(wants, held []pool.Request) bool {
	return slices.ContainsFunc(held, func(r pool.Request) bool { return asks(wants, r.Resource) })
}

func asksDifferently(before, after *corev1.Pod) bool {
	old, errOld := demand.Of(before)
	now, errNow := demand.Of(after)
	return (errOld == nil) != (errNow == nil) || !equality.Semantic.DeepEqual(old, now)
}

// isSchedulableAfterNodeChange wakes the pod when a node joins a pool of something it asks for.
func (p *ClusterResource) isSchedulableAfterNodeChange(_ klog.Logger, pod *corev1.Pod, before, after *corev1.Node) fwk.QueueingHint {
	wants, err := demand.Of(pod)
	resources := p.shared.Catalog.Snapshot()
	if err != nil || after == nil || resources == nil {
		return fwk.QueueSkip
	}
	for _, want := range wants {
		known := resources.Get(want.Resource)
		if known == nil || known.Err != nil {
			return fwk.QueueSkip // the ClusterResource wakes the pod when it appears
		}
		now := known.Pools.Select(after.Labels)
		if len(now) > 0 && (before == nil || !slices.Equal(now, known.Pools.Select(before.Labels))) {
			return fwk.Queue
		}
	}
	return fwk.QueueSkip
}

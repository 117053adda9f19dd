// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	schedutil "k8s.io/kubernetes/pkg/scheduler/util"

	"berth.dev/berth/pkg/workload"
)

// EventsToRegister names what can free a place for a pod that this plugin rejected. Changes of Clusters, policies and
// owners are not among them: those wake the pods they concern directly.
func (p *NodeGroupPolicy) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{
		// No narrower event tells that a bound pod is being deleted, which frees its seat at that moment.
		{
			Event:          fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Update | fwk.Delete},
			QueueingHintFn: p.isSchedulableAfterPodChange,
		},
		{
			Event: fwk.ClusterEvent{
				Resource:   fwk.Node,
				ActionType: fwk.Add | fwk.UpdateNodeLabel | fwk.UpdateNodeTaint | fwk.UpdateNodeAllocatable,
			},
			QueueingHintFn: p.isSchedulableAfterNodeChange,
		},
	}, nil
}

// isSchedulableAfterPodChange wakes the pod when a sibling of the same revision goes away or begins to.
func (p *NodeGroupPolicy) isSchedulableAfterPodChange(
	logger klog.Logger, pod *corev1.Pod, oldObj, newObj any,
) (fwk.QueueingHint, error) {
	before, after, err := schedutil.As[*corev1.Pod](oldObj, newObj)
	if err != nil {
		return fwk.Queue, err
	}
	if before == nil || after != nil && (before.DeletionTimestamp != nil || after.DeletionTimestamp == nil) {
		return fwk.QueueSkip, nil
	}
	if before.Spec.NodeName == "" || before.Namespace != pod.Namespace {
		return fwk.QueueSkip, nil
	}
	mine, owned := workload.RevisionOf(pod)
	other, otherOwned := workload.RevisionOf(before)
	if owned != otherOwned || mine != other {
		return fwk.QueueSkip, nil
	}
	logger.V(5).Info("A place may be free after a sibling went away", "pod", klog.KObj(pod), "sibling", klog.KObj(before))
	return fwk.Queue, nil
}

// isSchedulableAfterNodeChange wakes the pod when a node joins a cluster of its policy, or when a node of such a cluster
// changes and the pod is placed by turn, which depends on which clusters have a node that fits.
func (p *NodeGroupPolicy) isSchedulableAfterNodeChange(
	logger klog.Logger, pod *corev1.Pod, oldObj, newObj any,
) (fwk.QueueingHint, error) {
	before, after, err := schedutil.As[*corev1.Node](oldObj, newObj)
	if err != nil {
		return fwk.Queue, err
	}
	snapshot := p.shared.Catalog.Snapshot()
	if snapshot == nil {
		return fwk.Queue, nil
	}
	policy, w, err := p.policyOf(snapshot, pod)
	if err != nil || policy == nil {
		return fwk.Queue, nil //nolint:nilerr // PreFilter tells the user about it
	}
	cluster, found := snapshot.Membership.ClusterOf(after.Name, after.Labels)
	if !found || !policy.Names(cluster) {
		return fwk.QueueSkip, nil
	}
	if before != nil && w.ReplicasKnown {
		if previous, _ := snapshot.Membership.ClusterOf(before.Name, before.Labels); previous == cluster {
			return fwk.QueueSkip, nil
		}
	}
	logger.V(5).Info("A node of a cluster of the policy changed", "pod", klog.KObj(pod), "node", klog.KObj(after))
	return fwk.Queue, nil
}

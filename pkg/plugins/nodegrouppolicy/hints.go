// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy

import (
	"context"
	"errors"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/policymatch"
	"berth.dev/berth/pkg/plugins/internal/catalog"
	"berth.dev/berth/pkg/plugins/internal/guard"
)

// EventsToRegister names what can free a place for a pod that this plugin rejected. Changes of
// Clusters, policies and owners are not among them: those wake the pods they concern directly.
func (p *NodeGroupPolicy) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{
		// No narrower event tells that a bound pod is being deleted, which frees its seat at that
		// moment, or that a waiting pod asks for another policy.
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

// isSchedulableAfterPodChange wakes the pod when a sibling of the same revision gives up its place
// and no other that waits for one comes before, or when what decides on the pod's own policy has
// changed.
func (p *NodeGroupPolicy) isSchedulableAfterPodChange(logger klog.Logger, pod, before, after *corev1.Pod) fwk.QueueingHint {
	switch {
	case before == nil:
		return fwk.QueueSkip
	case before.UID == pod.UID:
		if after != nil && asksDifferently(before, after) {
			return fwk.Queue
		}
		return fwk.QueueSkip
	case !freesPlace(pod, before, after):
		return fwk.QueueSkip
	}
	if revision, owned := workload.RevisionOf(pod); owned && !p.shared.Waiting.WokenBy(pod, before, revision) {
		return fwk.QueueSkip
	}
	logger.V(5).Info("A place may be free after a sibling went away", "pod", klog.KObj(pod), "sibling", klog.KObj(before))
	return fwk.Queue
}

// asksDifferently reports whether a change of a waiting pod may give it another policy or another
// revision. Its status does not count: the scheduler itself writes there that the pod waits.
func asksDifferently(before, after *corev1.Pod) bool {
	return before.Annotations[berthv1alpha1.PolicyAnnotation] != after.Annotations[berthv1alpha1.PolicyAnnotation] ||
		!maps.Equal(before.Labels, after.Labels) ||
		controllerOf(before) != controllerOf(after)
}

// controllerOf returns the UID of the controller that a pod names, empty if it names none.
func controllerOf(pod *corev1.Pod) types.UID {
	if ref := metav1.GetControllerOfNoCopy(pod); ref != nil {
		return ref.UID
	}
	return ""
}

// freesPlace reports whether another pod held a place in the pod's share, bound or nominated, and
// does so no longer. Most changes leave the other pod where it is, whoever waits, so those are
// found first.
func freesPlace(pod, before, after *corev1.Pod) bool {
	if before.Namespace != pod.Namespace || before.DeletionTimestamp != nil ||
		before.Spec.NodeName == "" && before.Status.NominatedNodeName == "" ||
		controllerOf(before) != controllerOf(pod) {
		return false
	}
	freed, _ := workload.RevisionOf(before)
	if after != nil && after.DeletionTimestamp == nil {
		if kept, _ := workload.RevisionOf(after); kept == freed {
			return false
		}
	}
	wanted, _ := workload.RevisionOf(pod)
	return wanted == freed
}

// isSchedulableAfterNodeChange wakes the pod when a node joins a cluster of its policy, or leaves
// one and takes the replicas on it out of the count.
func (p *NodeGroupPolicy) isSchedulableAfterNodeChange(logger klog.Logger, pod *corev1.Pod, before, after *corev1.Node) fwk.QueueingHint {
	snapshot := p.shared.Catalog.Snapshot()
	if snapshot == nil {
		// The first snapshot wakes all pods.
		return fwk.QueueSkip
	}
	policy, _, err := snapshot.PolicyOf(pod, p.shared.Owners)
	from, to := clusterOf(snapshot, before), clusterOf(snapshot, after)
	switch {
	case errors.Is(err, policymatch.ErrNotFound), errors.Is(err, workload.ErrOwnerNotFound):
		// No node helps; the policy or the owner wakes the pod when it appears.
		return fwk.QueueSkip
	case err != nil, policy == nil:
		return fwk.Queue // PreFilter tells the user about it
	case from == to, !policy.Names(from) && !policy.Names(to):
		return fwk.QueueSkip
	}
	logger.V(5).Info("A node joined or left a cluster of the policy", "pod", klog.KObj(pod), "node", klog.KObj(after))
	return fwk.Queue
}

// clusterOf returns the cluster of the node; empty if it lies in none, and for no node.
func clusterOf(snapshot *catalog.Snapshot, node *corev1.Node) string {
	if node == nil {
		return ""
	}
	cluster, _ := snapshot.Membership.ClusterOf(node.Name, node.Labels)
	return cluster
}

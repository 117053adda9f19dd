// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/rebalance"
)

// SafeToEvictAnnotation with the value "false" protects a pod from eviction; it is
// cluster-autoscaler's.
const SafeToEvictAnnotation = "cluster-autoscaler.kubernetes.io/safe-to-evict"

// systemCriticalPriority is the lowest priority that only system classes have.
const systemCriticalPriority = 2_000_000_000

// KeepOf is the function of this name for a pod of a workload of the policy, which takes over some
// pods that none has placed: see Adopts. A pod also stays where its cluster meets the constraints
// no more, and where it was left and is online again.
func (p *Policy) KeepOf(
	w *workload.Workload, pod *corev1.Pod, node *corev1.Node, cluster *topology.Cluster, schedulers []string, refused rebalance.Keep,
) rebalance.Keep {
	keep := KeepOf(pod, node, cluster, p.Object.Name, refused)
	switch {
	case keep == rebalance.NotOurs && Adopts(p.Object.Name, w, pod, schedulers):
		return rebalance.TakenOver
	case keep == rebalance.Movable && cluster != nil && !cluster.Object.Spec.Drain && p.Excludes(cluster.Object.Name):
		return rebalance.Excluded
	case keep == rebalance.Movable && p.isBack(cluster):
		return rebalance.Returning
	}
	return keep
}

// isBack reports whether a cluster that was left is online again, so that it is to have its seats
// back if it stays so. What has lived there through the outage need not move away and back.
func (p *Policy) isBack(cluster *topology.Cluster) bool {
	return cluster != nil && !cluster.Object.Spec.Unschedulable && p.left.Has(cluster.Object.Name) &&
		apimeta.IsStatusConditionTrue(cluster.Object.Status.Conditions, berthv1alpha1.ClusterOnline)
}

// KeepOf returns why a bound pod must not be evicted for the sake of the policy in force, Movable
// if it may be. Node is the node of the pod, nil if it has vanished, and cluster its Cluster, nil
// if it is in none; refused is why the API server did not let the pod go a short while ago, Movable
// if it has not been asked. The first rule that holds counts.
func KeepOf(pod *corev1.Pod, node *corev1.Node, cluster *topology.Cluster, policy string, refused rebalance.Keep) rebalance.Keep {
	given, stamped := stamp.Of(pod)
	for _, rule := range [...]struct {
		holds bool
		keep  rebalance.Keep
	}{
		{!stamped, rebalance.NotOurs},
		{given.Policy != policy, rebalance.TakenOver},
		{protected(pod), rebalance.Protected},
		{node == nil || !topology.Ready(node), rebalance.Unreachable},
		{cluster != nil && cluster.Object.Spec.Unschedulable && !cluster.Object.Spec.Drain, rebalance.Cordoned},
	} {
		if rule.holds {
			return rule.keep
		}
	}
	return refused
}

// Unwanted reports whether somebody wants no pods of a policy where one is: its node is in no
// Cluster, the Cluster is drained, or the policy does not name it. One that a group of the policy
// has chosen once, and may choose again, is another matter.
func Unwanted(policy *berthv1alpha1.PropagationPolicy, cluster *topology.Cluster, named bool) bool {
	if cluster == nil || cluster.Object.Spec.Unschedulable {
		return true
	}
	return !named && !slices.ContainsFunc(policy.Spec.Placement.ClusterGroups, func(g berthv1alpha1.ClusterGroup) bool {
		return g.MaxClusters != nil
	})
}

// protected reports whether a pod must not be evicted whatever the policy wants: pods critical to
// the system, static pods, pods that nothing would replace, and those that a user marked.
func protected(pod *corev1.Pod) bool {
	_, static := pod.Annotations[corev1.MirrorPodAnnotationKey]
	critical := pod.Spec.Priority != nil && *pod.Spec.Priority >= systemCriticalPriority
	return critical || static || len(pod.OwnerReferences) == 0 || pod.Annotations[SafeToEvictAnnotation] == "false"
}

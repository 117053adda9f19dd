// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/rebalance"
)

// Seat gives the bound replicas, which are those that were counted, the seats that they should
// hold, and returns them. It returns nil, and leaves all as it is, if their number is not known or
// the workload is about to shrink by those that it holds.
func (s *Shares) Seat(bound []*corev1.Pod, replicas int32) []int32 {
	if s.Plan == nil || len(bound) > int(replicas) {
		return nil
	}
	seats := rebalance.Seats(s.Plan, s.Pods)
	for i, seat := range seats {
		pod := &s.Pods[i]
		if pod.Fixed {
			continue
		}
		pod.Seat = seat
		given, stamped := stamp.Of(bound[i])
		if _, set := bound[i].Annotations[corev1.PodDeletionCost]; stamped && given.OwnsDeletionCost(bound[i]) ||
			pod.Keep == rebalance.TakenOver && !set {
			pod.Cost = stamp.ParseDeletionCost(stamp.Stamp{Seat: seat}.DeletionCost())
		}
	}
	return seats
}

// Round returns what package rebalance is asked about a workload and its shares. Clusters are those
// of the policy by their index in the seat order, nil for those that do not exist. Ages, Room and
// Fits, and what depends on time, are left to the caller.
func (s *Shares) Round(
	o *workload.Observed, spec *berthv1alpha1.Rebalance, clusters []*topology.Cluster,
) *rebalance.Round {
	round := &rebalance.Round{
		Plan: s.Plan, Pods: slices.Clone(s.Pods), Clusters: make([]rebalance.Cluster, len(clusters)),
		RolloutFinished: o.RolloutFinished(), Pending: o.Pending(true),
		MaxUnavailable: rebalance.MaxUnavailableOf(spec.MaxUnavailable, int(o.Replicas)),
	}
	switch {
	case o.Kind == workload.KindJob:
		round.Never = rebalance.JobPods
	case !o.ReplicasKnown:
		round.Never = rebalance.UnknownWorkload
	case spec.Mode == berthv1alpha1.RebalanceNever:
		round.Never = rebalance.Forbidden
	}
	for i, cluster := range clusters {
		round.Clusters[i].Ready = cluster.TakesPods()
	}
	return round
}

// Replacement returns a pod like the one that comes when this one is evicted: nothing that Berth
// wrote on it, and no policy, since the policy is what the room is looked for.
func Replacement(pod *corev1.Pod) *corev1.Pod {
	replacement := pod.DeepCopy()
	replacement.Spec.NodeName, replacement.OwnerReferences = "", nil
	maps.DeleteFunc(replacement.Annotations, func(key, _ string) bool { return stamp.Written(key) })
	metav1.SetMetaDataAnnotation(&replacement.ObjectMeta, berthv1alpha1.PolicyAnnotation, berthv1alpha1.PolicyNone)
	return replacement
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"context"
	"slices"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/capacity"
	modelpolicy "berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/pool"
)

// follow sets the number of replicas of the workloads of policies that follow their clusters, but
// for those that a HorizontalPodAutoscaler targets.
func (s *Simulation) follow(ctx context.Context) error {
	if !slices.ContainsFunc(kept[*berthv1alpha1.PropagationPolicy](s), modelpolicy.FollowsClusters) {
		return nil
	}
	return s.eachPlaced(func(m *mover) error {
		o := m.observed
		replicas, sets := m.policy.Replicas()
		if !sets || !o.ReplicasKnown || o.Replicas == replicas || !modelpolicy.Scalable(&o.Workload) || s.autoscaled(&o.Workload) {
			return nil
		}
		return s.Scale(ctx, o.Kind, o.Namespace, o.Name, replicas)
	})
}

// autoscaled reports whether a HorizontalPodAutoscaler targets a workload.
func (s *Simulation) autoscaled(w *workload.Workload) bool {
	for _, a := range kept[*autoscalingv2.HorizontalPodAutoscaler](s) {
		if a.Namespace == w.Namespace && modelpolicy.Targets(&a.Spec.ScaleTargetRef, w) {
			return true
		}
	}
	for _, a := range kept[*autoscalingv1.HorizontalPodAutoscaler](s) {
		target := autoscalingv2.CrossVersionObjectReference(a.Spec.ScaleTargetRef)
		if a.Namespace == w.Namespace && modelpolicy.Targets(&target, w) {
			return true
		}
	}
	return false
}

// weigh tells in the status of Clusters what policies weigh them by, as the controllers do, if any
// policy does so.
func (s *Simulation) weigh(context.Context) error {
	policies := kept[*berthv1alpha1.PropagationPolicy](s)
	if !slices.ContainsFunc(policies, weighsByStatus) {
		return nil
	}
	places, asked := s.topology(), capacity.AskedBy(values(policies))
	rooms := asked.Rooms(places, values(s.sortedPods()))
	resources := pool.UsableByName(values(kept[*berthv1alpha1.ClusterResource](s)))
	for _, c := range kept[*berthv1alpha1.Cluster](s) {
		after, nodes := c.DeepCopy(), places.Cluster(c.Name).Nodes
		after.Status.Allocatable, after.Status.Pools = capacity.Allocatable(nodes), asked.Pools(nodes, resources)
		if room := rooms[c.Name]; !capacity.Alike(after.Status.Room, room) {
			after.Status.Room = room
		}
		if err := s.replace(after); err != nil {
			return err
		}
	}
	return nil
}

// weighsByStatus reports whether a policy weighs clusters by what their status tells.
func weighsByStatus(policy *berthv1alpha1.PropagationPolicy) bool {
	return slices.ContainsFunc(policy.Spec.Placement.ClusterGroups, func(g berthv1alpha1.ClusterGroup) bool {
		return g.ClusterWeights != nil && g.ClusterWeights.Type != berthv1alpha1.WeighEqual && g.ClusterWeights.Type != berthv1alpha1.WeighLabel
	})
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"math"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
)

// FollowsClusters reports whether a policy sets the number of replicas of its workloads.
func FollowsClusters(policy *berthv1alpha1.PropagationPolicy) bool {
	return policy.Spec.Scaling != nil && policy.Spec.Scaling.Mode == berthv1alpha1.ScaleFollowClusters
}

// Replicas returns how many replicas the policy sets for its workloads, false if it sets none. It
// never sets 0: a selector with a slip selects nothing.
func (p *Policy) Replicas() (replicas int32, sets bool) {
	if !FollowsClusters(p.Object) || p.Err != nil || p.Layout.Wants.Replicas == 0 {
		return 0, false
	}
	return int32(min(p.Layout.Wants.Replicas, math.MaxInt32)), true
}

// Scalable reports whether a policy may set the number of replicas of a workload: of a Deployment
// or a StatefulSet.
func Scalable(w *workload.Workload) bool {
	switch groupKind(w.APIVersion, w.Kind) {
	case schema.GroupKind{Group: appsv1.GroupName, Kind: "Deployment"}, schema.GroupKind{Group: appsv1.GroupName, Kind: "StatefulSet"}:
		return true
	}
	return false
}

// Targets reports whether the target of a HorizontalPodAutoscaler in the namespace of a workload is
// that workload.
func Targets(target *autoscalingv2.CrossVersionObjectReference, w *workload.Workload) bool {
	return target.Name == w.Name && groupKind(target.APIVersion, target.Kind) == groupKind(w.APIVersion, w.Kind)
}

// groupKind returns a kind without its version: versions of a kind are one kind.
func groupKind(apiVersion, kind string) schema.GroupKind {
	return schema.FromAPIVersionAndKind(apiVersion, kind).GroupKind()
}

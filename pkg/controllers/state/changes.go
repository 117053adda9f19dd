// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/topology"
)

// NodeChanges lets those events of nodes pass that can change the nodes of a Cluster or what they
// take. Heartbeats, and the other updates that kubelets send every few seconds, do not.
func NodeChanges() predicate.TypedPredicate[*corev1.Node] {
	return predicate.TypedFuncs[*corev1.Node]{
		UpdateFunc: func(e event.TypedUpdateEvent[*corev1.Node]) bool {
			before, after := e.ObjectOld, e.ObjectNew
			return before.UID != after.UID ||
				topology.Ready(before) != topology.Ready(after) ||
				before.Spec.Unschedulable != after.Spec.Unschedulable ||
				!maps.Equal(before.Labels, after.Labels) ||
				!apiequality.Semantic.DeepEqual(before.Spec.Taints, after.Spec.Taints) ||
				!apiequality.Semantic.DeepEqual(before.Status.Allocatable, after.Status.Allocatable)
		},
	}
}

// ClusterChanges lets those events of Clusters pass that can change to which Cluster a node
// belongs, or which policies select it: all but those of the status.
func ClusterChanges() predicate.TypedPredicate[*berthv1alpha1.Cluster] {
	return predicate.TypedFuncs[*berthv1alpha1.Cluster]{
		UpdateFunc: func(e event.TypedUpdateEvent[*berthv1alpha1.Cluster]) bool {
			return e.ObjectOld.UID != e.ObjectNew.UID || e.ObjectOld.Generation != e.ObjectNew.Generation ||
				!maps.Equal(e.ObjectOld.Labels, e.ObjectNew.Labels)
		},
	}
}

// OnlineChanges lets those updates of Clusters pass that change whether a Cluster is online.
func OnlineChanges() predicate.TypedPredicate[*berthv1alpha1.Cluster] {
	return predicate.TypedFuncs[*berthv1alpha1.Cluster]{
		UpdateFunc: func(e event.TypedUpdateEvent[*berthv1alpha1.Cluster]) bool {
			return online(e.ObjectOld) != online(e.ObjectNew)
		},
	}
}

// online returns the status of the condition Online, empty if there is none yet.
func online(cluster *berthv1alpha1.Cluster) metav1.ConditionStatus {
	if c := cluster.Online(); c != nil {
		return c.Status
	}
	return ""
}

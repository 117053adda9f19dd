// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterGroup is a part of the clusters of a policy, which share what the group gets. A group gets
// a part of the replicas by its weight, or a number of them: replicas for all of its clusters
// together, or replicasPerCluster for each. Numbers are served first, in the order of the groups,
// and weights share what is left. Without any of the three the group has weight 1.
//
// +kubebuilder:validation:XValidation:rule="has(self.clusterSelector) != has(self.clusterNames)",message="give exactly one of clusterSelector and clusterNames"
// +kubebuilder:validation:XValidation:rule="!has(self.replicas) || !has(self.weight)",message="replicas must not be given together with weight: it is a number, not a share",fieldPath=".replicas",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="!has(self.replicasPerCluster) || !has(self.weight)",message="replicasPerCluster must not be given together with weight: it is a number, not a share",fieldPath=".replicasPerCluster",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="!has(self.replicasPerCluster) || !has(self.replicas)",message="replicasPerCluster must not be given together with replicas: one is a number for each cluster, the other for all of the group",fieldPath=".replicasPerCluster",reason=FieldValueForbidden
type ClusterGroup struct {
	// name of the group, for messages and the status.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// clusterSelector selects Clusters by their labels: those that there are, and each that is made or
	// labelled later. The fields of a Cluster count as labels, geoLocation.country for instance. An
	// empty selector selects all Clusters. A Cluster that is in several groups belongs to the first.
	// +optional
	ClusterSelector *metav1.LabelSelector `json:"clusterSelector,omitempty"`

	// clusterNames names the clusters of the group.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	ClusterNames []string `json:"clusterNames,omitempty"`

	// weight of the group as a whole, relative to the weights of the others; from 1 to 2147483647. It
	// does not grow with the number of clusters in the group. Default 1, unless replicas or
	// replicasPerCluster is given.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	Weight *int64 `json:"weight,omitempty"`

	// replicas is the number of replicas that all clusters of the group get together: no fewer, before
	// any weight counts, and no more.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Replicas *int32 `json:"replicas,omitempty"`

	// replicasPerCluster is the number of replicas that each cluster of the group gets: no fewer,
	// before any weight counts, and no more. Where a workload has too few replicas for all of them,
	// groups further up come first.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ReplicasPerCluster *int32 `json:"replicasPerCluster,omitempty"`
}

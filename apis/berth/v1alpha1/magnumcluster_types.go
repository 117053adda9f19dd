// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MagnumCluster is a cluster that OpenStack Magnum is to make. It is bound to the best
// OpenStackProject that meets its constraints, once.
//
// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=bmagnum,categories=berth
// +kubebuilder:printcolumn:name="Project",type=string,JSONPath=`.status.scheduledTo.name`
// +kubebuilder:printcolumn:name="Template",type=string,JSONPath=`.status.template`
// +kubebuilder:printcolumn:name="Bound",type=string,JSONPath=`.status.conditions[?(@.type=="Bound")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type MagnumCluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec describes the cluster, and in which projects it may be made.
	// +optional
	Spec MagnumClusterSpec `json:"spec,omitempty"`

	// status is what Berth decided. Only Berth's controllers write it.
	// +optional
	Status MagnumClusterStatus `json:"status,omitempty"`
}

// MagnumClusterList is a list of MagnumClusters.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type MagnumClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the clusters.
	Items []MagnumCluster `json:"items"`
}

// MagnumClusterSpec describes a Magnum cluster, and in which projects it may be made.
type MagnumClusterSpec struct {
	// masterCount is the number of machines of the control plane. It cannot be changed.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="masterCount cannot be changed"
	MasterCount *int32 `json:"masterCount,omitempty"`

	// nodeCount is the number of nodes.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	NodeCount *int32 `json:"nodeCount,omitempty"`

	// constraints are what the project must meet.
	// +optional
	Constraints ProjectConstraints `json:"constraints,omitempty"`

	// metrics are the metrics by which the cluster is ranked for applications once it is there, with
	// their weights.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	Metrics []MetricReference `json:"metrics,omitempty"`
}

// ProjectConstraints are what an OpenStackProject must meet, all of them.
type ProjectConstraints struct {
	// projectLabels are constraints on the labels of the project, such as "location is DE".
	// +optional
	ProjectLabels LabelConstraints `json:"projectLabels,omitempty"`

	// projectMetrics are constraints on the metrics of the project, such as "load < 5".
	// +optional
	ProjectMetrics MetricConstraints `json:"projectMetrics,omitempty"`
}

// MagnumClusterStatus is what Berth decided about a Magnum cluster.
type MagnumClusterStatus struct {
	// observedGeneration is the generation of the spec that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// scheduledTo is the chosen project.
	// +optional
	ScheduledTo *CloudReference `json:"scheduledTo,omitempty"`

	// template is the Magnum cluster template of that project.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	Template string `json:"template,omitempty"`

	// ranking are the projects as they were compared, the best first; at most 20.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	Ranking []RankedPlace `json:"ranking,omitempty"`

	// conditions: Bound reports whether a project is chosen.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Cloud is a place where the Clusters and applications of its namespace can get a cluster made. A
// Cluster with a section provision is bound to the best Cloud that meets its constraints. Its
// labels are what label constraints compare.
//
// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=bcloud,categories=berth
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="Metrics",type=string,JSONPath=`.status.conditions[?(@.type=="MetricsAvailable")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Cloud struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec describes the cloud.
	// +optional
	Spec CloudSpec `json:"spec,omitempty"`

	// status is what Berth observed. Only Berth's controllers write it.
	// +optional
	Status CloudStatus `json:"status,omitempty"`
}

// CloudList is a list of Clouds.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type CloudList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the clouds.
	Items []Cloud `json:"items"`
}

// CloudSpec describes a cloud.
type CloudSpec struct {
	// type of the cloud, for instance "openstack". It says nothing to Berth.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Type string `json:"type,omitempty"`

	// url of the cloud. Berth does not connect to it.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	URL string `json:"url,omitempty"`

	// metrics are the metrics by which the cloud is ranked, with their weights. One that lies in
	// another namespace does not count.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	Metrics []MetricReference `json:"metrics,omitempty"`
}

// CloudStatus is what Berth observed of a cloud or an OpenStack project.
type CloudStatus struct {
	// observedGeneration is the generation of the spec that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// metrics are the last values of the metrics.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	Metrics []MetricSample `json:"metrics,omitempty"`

	// conditions: MetricsAvailable reports whether all metrics could be read.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// CloudReference names a Cloud, GlobalCloud or OpenStackProject.
type CloudReference struct {
	// kind is Cloud, GlobalCloud or OpenStackProject.
	// +kubebuilder:validation:Enum=Cloud;GlobalCloud;OpenStackProject
	Kind string `json:"kind"`

	// namespace of a Cloud or OpenStackProject.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// name of the object.
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// OpenStackProject is a project of an OpenStack installation in which Magnum clusters can be made.
// A MagnumCluster is bound to the best project that meets its constraints. Its labels are what
// label constraints compare.
//
// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=bosp,categories=berth
// +kubebuilder:printcolumn:name="Template",type=string,JSONPath=`.spec.template`
// +kubebuilder:printcolumn:name="Metrics",type=string,JSONPath=`.status.conditions[?(@.type=="MetricsAvailable")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type OpenStackProject struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec describes the project.
	Spec OpenStackProjectSpec `json:"spec"`

	// status is what Berth observed. Only Berth's controllers write it.
	// +optional
	Status CloudStatus `json:"status,omitempty"`
}

// OpenStackProjectList is a list of OpenStackProjects.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type OpenStackProjectList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the projects.
	Items []OpenStackProject `json:"items"`
}

// OpenStackProjectSpec describes a project of an OpenStack installation.
type OpenStackProjectSpec struct {
	// url of the identity service. Berth does not connect to it.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	URL string `json:"url,omitempty"`

	// userID is the OpenStack user in whose name clusters are made.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	UserID string `json:"userID,omitempty"`

	// template is the identifier of the Magnum cluster template for clusters of this project.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Template string `json:"template"`

	// metrics are the metrics by which the project is ranked, with their weights. One that lies in
	// another namespace does not count.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	Metrics []MetricReference `json:"metrics,omitempty"`
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GlobalCloud is a place where everybody can get a cluster made. A Cluster with a section provision
// is bound to the best Cloud or GlobalCloud that meets its constraints. Its labels are what label
// constraints compare.
//
// +genclient
// +genclient:nonNamespaced
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=bgcloud,categories=berth
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="Metrics",type=string,JSONPath=`.status.conditions[?(@.type=="MetricsAvailable")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type GlobalCloud struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec describes the cloud.
	// +optional
	Spec GlobalCloudSpec `json:"spec,omitempty"`

	// status is what Berth observed. Only Berth's controllers write it.
	// +optional
	Status CloudStatus `json:"status,omitempty"`
}

// GlobalCloudList is a list of GlobalClouds.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type GlobalCloudList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the clouds.
	Items []GlobalCloud `json:"items"`
}

// GlobalCloudSpec describes a cloud for everybody.
//
// +kubebuilder:validation:XValidation:rule="!has(self.metrics) || self.metrics.all(m, !has(m.__namespace__) || m.__namespace__.size() == 0)",message="a GlobalCloud can be ranked by GlobalMetrics only: leave the namespace of its metrics out"
type GlobalCloudSpec struct {
	CloudSpec `json:",inline"`
}

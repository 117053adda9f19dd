// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GlobalMetric is a measured value that describes clusters, clouds or projects, such as a load or a
// price, for use in all namespaces. It takes its value from a GlobalMetricsProvider.
//
// +genclient
// +genclient:nonNamespaced
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=bgmetric,categories=berth
// +kubebuilder:printcolumn:name="Provider",type=string,JSONPath=`.spec.provider.name`
// +kubebuilder:printcolumn:name="Value",type=number,JSONPath=`.status.value`
// +kubebuilder:printcolumn:name="Available",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].reason`
// +kubebuilder:printcolumn:name="Min",type=number,priority=1,JSONPath=`.spec.min`
// +kubebuilder:printcolumn:name="Max",type=number,priority=1,JSONPath=`.spec.max`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type GlobalMetric struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says where the value comes from and what its range is.
	Spec MetricSpec `json:"spec"`

	// status is the last value. Only Berth's controllers write it.
	// +optional
	Status MetricStatus `json:"status,omitempty"`
}

// GlobalMetricList is a list of GlobalMetrics.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type GlobalMetricList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the metrics.
	Items []GlobalMetric `json:"items"`
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GlobalMetricsProvider is a source of metrics for GlobalMetrics: a Prometheus server, a ksqlDB
// server, or fixed values.
//
// +genclient
// +genclient:nonNamespaced
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=bgmp,categories=berth
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="Reachable",type=string,JSONPath=`.status.conditions[?(@.type=="Reachable")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Reachable")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type GlobalMetricsProvider struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says what the source is and how it is reached.
	Spec GlobalMetricsProviderSpec `json:"spec"`

	// status is what Berth observed. Only Berth's controllers write it.
	// +optional
	Status MetricsProviderStatus `json:"status,omitempty"`
}

// GlobalMetricsProviderList is a list of GlobalMetricsProviders.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type GlobalMetricsProviderList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the providers.
	Items []GlobalMetricsProvider `json:"items"`
}

// GlobalMetricsProviderSpec says what a source of metrics is and how it is reached.
type GlobalMetricsProviderSpec struct {
	MetricsProviderSpec `json:",inline"`

	// credentialsSecret names a Secret in the namespace that is set aside for credentials,
	// berth-credentials unless the operator chose another one, with the keys "username" and
	// "password", or "token". It is sent to the host of the url only. Empty sends nothing.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	CredentialsSecret string `json:"credentialsSecret,omitempty"`
}

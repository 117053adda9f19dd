// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MetricsProvider is a source of metrics for the Metrics of its own namespace: a Prometheus server,
// a ksqlDB server, or fixed values. Berth connects only to hosts that its operator allows for
// namespaces, and never sends credentials there.
//
// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=bmp,categories=berth
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="Reachable",type=string,JSONPath=`.status.conditions[?(@.type=="Reachable")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Reachable")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type MetricsProvider struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says what the source is and how it is reached.
	Spec MetricsProviderSpec `json:"spec"`

	// status is what Berth observed. Only Berth's controllers write it.
	// +optional
	Status MetricsProviderStatus `json:"status,omitempty"`
}

// MetricsProviderList is a list of MetricsProviders.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type MetricsProviderList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the providers.
	Items []MetricsProvider `json:"items"`
}

// MetricsProviderSpec says what a source of metrics is and how it is reached.
//
// +kubebuilder:validation:XValidation:rule="has(self.prometheus) == (self.type == 'prometheus') && has(self.kafka) == (self.type == 'kafka') && has(self.static) == (self.type == 'static')",message="the section named like the type must be there, and no other one"
type MetricsProviderSpec struct {
	// type is prometheus, kafka (a ksqlDB server) or static (fixed values).
	Type MetricsProviderType `json:"type"`

	// prometheus describes a Prometheus server.
	// +optional
	Prometheus *PrometheusProvider `json:"prometheus,omitempty"`

	// kafka describes a table of a ksqlDB server.
	// +optional
	Kafka *KafkaProvider `json:"kafka,omitempty"`

	// static holds fixed values.
	// +optional
	Static *StaticProvider `json:"static,omitempty"`

	// allowPlainHTTP permits a url that begins with "http:". Whoever is on the way can then read and
	// change what is sent. Berth connects only if its operator permits that too.
	// +optional
	AllowPlainHTTP bool `json:"allowPlainHTTP,omitempty"`
}

// MetricsProviderType is what a source of metrics is.
//
// +kubebuilder:validation:Enum=prometheus;kafka;static
type MetricsProviderType string

const (
	// PrometheusMetrics are read from a Prometheus server.
	PrometheusMetrics MetricsProviderType = "prometheus"

	// KafkaMetrics are read from a ksqlDB server.
	KafkaMetrics MetricsProviderType = "kafka"

	// StaticMetrics stand in the provider itself.
	StaticMetrics MetricsProviderType = "static"
)

// PrometheusProvider describes a Prometheus server.
type PrometheusProvider struct {
	// url of the server, for instance "https://prometheus.monitoring.svc:9090". Redirects are not
	// followed.
	URL ProviderURL `json:"url"`

	// caBundle holds the PEM certificates that the certificate of the server is checked against. Empty
	// means those of the system. The check cannot be switched off.
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	CABundle []byte `json:"caBundle,omitempty"`
}

// ProviderURL is where a source of metrics is reached, over https, or over http if that is
// permitted, without credentials.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=1024
// +kubebuilder:validation:XValidation:rule="isURL(self) && url(self).getScheme() in ['http', 'https'] && url(self).getHostname().size() > 0 && !self.contains('@') && !self.contains('?') && !self.contains('#')",message="must be a URL such as http://localhost:9090, without credentials, query or fragment"
type ProviderURL string

// KafkaProvider describes a table of a ksqlDB server that has metrics in rows.
//
// +kubebuilder:validation:XValidation:rule="has(self.comparisonColumn) != has(self.comparison_column)",message="comparisonColumn must be there, once"
// +kubebuilder:validation:XValidation:rule="has(self.valueColumn) != has(self.value_column)",message="valueColumn must be there, once"
type KafkaProvider struct {
	// url of the server, for instance "https://ksqldb.kafka.svc:8088". Redirects are not followed.
	URL ProviderURL `json:"url"`

	// caBundle holds the PEM certificates that the certificate of the server is checked against. Empty
	// means those of the system. The check cannot be switched off.
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	CABundle []byte `json:"caBundle,omitempty"`

	// table is the name of the table.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z_][A-Za-z0-9_]{0,63}$`
	Table string `json:"table"`

	// comparisonColumn is the column with the names of the metrics.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z_][A-Za-z0-9_]{0,63}$`
	ComparisonColumn string `json:"comparisonColumn,omitempty"`

	// comparison_column is how Krake spells comparisonColumn.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z_][A-Za-z0-9_]{0,63}$`
	KrakeComparisonColumn string `json:"comparison_column,omitempty"`

	// valueColumn is the column with the values of the metrics.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z_][A-Za-z0-9_]{0,63}$`
	ValueColumn string `json:"valueColumn,omitempty"`

	// value_column is how Krake spells valueColumn.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z_][A-Za-z0-9_]{0,63}$`
	KrakeValueColumn string `json:"value_column,omitempty"`
}

// StaticProvider holds fixed values of metrics.
type StaticProvider struct {
	// metrics are the values by name.
	// +kubebuilder:validation:MaxProperties=1000
	Metrics map[string]float64 `json:"metrics"`
}

// MetricsProviderStatus is what Berth observed of a source of metrics.
type MetricsProviderStatus struct {
	// observedGeneration is the generation of the spec that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions: Reachable reports whether the source answered the last time it was asked. It is
	// absent while no metric uses the source.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Metric is a measured value that describes clusters, clouds or projects, such as a load or a
// price, for use within its own namespace. It takes its value from a MetricsProvider of the same
// namespace. See GlobalMetric for metrics for everybody.
//
// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=bmetric,categories=berth
// +kubebuilder:printcolumn:name="Provider",type=string,JSONPath=`.spec.provider.name`
// +kubebuilder:printcolumn:name="Value",type=number,JSONPath=`.status.value`
// +kubebuilder:printcolumn:name="Available",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].reason`
// +kubebuilder:printcolumn:name="Min",type=number,priority=1,JSONPath=`.spec.min`
// +kubebuilder:printcolumn:name="Max",type=number,priority=1,JSONPath=`.spec.max`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Metric struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says where the value comes from and what its range is.
	Spec MetricSpec `json:"spec"`

	// status is the last value. Only Berth's controllers write it.
	// +optional
	Status MetricStatus `json:"status,omitempty"`
}

// MetricList is a list of Metrics.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type MetricList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the metrics.
	Items []Metric `json:"items"`
}

// MetricSpec says where the value of a metric comes from and what its range is. The value is
// normalised for scores: min becomes 0 and max becomes 1, or the other way round if lower is
// better. Constraints compare the value as the provider gives it.
//
// +kubebuilder:validation:XValidation:rule="self.min < self.max",message="min must be less than max"
type MetricSpec struct {
	// min is the least possible value.
	Min float64 `json:"min"`

	// max is the greatest possible value.
	Max float64 `json:"max"`

	// outOfRange says what becomes of a value below min or above max: Reject (the default) takes it
	// for missing: in the score of a cluster the metric counts 0 with its weight, and where an
	// application runs the last value counts; Clamp counts it as the nearest bound in scores, while
	// constraints compare the value as it is.
	// +optional
	// +kubebuilder:default=Reject
	OutOfRange OutOfRangeAction `json:"outOfRange,omitempty"`

	// direction is HigherIsBetter (the default) or LowerIsBetter, as for a load or a price.
	// +optional
	// +kubebuilder:default=HigherIsBetter
	Direction MetricDirection `json:"direction,omitempty"`

	// allowedValues lists the only values that the metric may have. Empty allows all from min to max.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=256
	AllowedValues []int64 `json:"allowedValues,omitempty"`

	// provider is where the value comes from.
	Provider MetricSource `json:"provider"`

	// maxAge is how long the last good value is used when the provider fails, up to 24h. Default 5m.
	// After that the metric counts only where an application runs already, so that a provider that
	// dies moves nothing.
	// +optional
	// +kubebuilder:default="5m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:XValidation:rule="self.size() <= 16 && self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) <= duration('24h')",message="must be a duration from 0s to 24h such as 30s, 5m or 1h30m"
	MaxAge *metav1.Duration `json:"maxAge,omitempty"`
}

// MetricDirection says which values of a metric are better.
//
// +kubebuilder:validation:Enum=HigherIsBetter;LowerIsBetter
type MetricDirection string

const (
	// HigherIsBetter maps the min of a metric to 0 and its max to 1.
	HigherIsBetter MetricDirection = "HigherIsBetter"

	// LowerIsBetter maps the min of a metric to 1 and its max to 0.
	LowerIsBetter MetricDirection = "LowerIsBetter"
)

// OutOfRangeAction says what becomes of a value that is not between min and max.
//
// +kubebuilder:validation:Enum=Reject;Clamp
type OutOfRangeAction string

const (
	// RejectOutOfRange takes such a value for missing.
	RejectOutOfRange OutOfRangeAction = "Reject"

	// ClampOutOfRange counts such a value as the nearest bound.
	ClampOutOfRange OutOfRangeAction = "Clamp"
)

// MetricSource names a provider, and a metric there.
type MetricSource struct {
	// name is the name of the GlobalMetricsProvider of a GlobalMetric, or of the MetricsProvider of a
	// Metric. An underscore stands for a hyphen, which names of objects have instead.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// metric is what the provider calls the metric: for Prometheus a name or any PromQL expression
	// with one value, for Kafka the text in the comparison column, for a static provider the key.
	// $(cluster) stands for the name of the cluster, cloud or project, and $(labels.KEY) for its label
	// KEY: the metric has one value for each of them then. Default: the name of this object.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^([^$]|[$]+[^($]|[$]+[(](cluster|labels[.][-A-Za-z0-9_./]+)[)])*[$]*$')",message="$( must be followed by cluster) or labels.KEY)"
	Metric string `json:"metric,omitempty"`
}

// MetricStatus is the last value of a metric.
type MetricStatus struct {
	// observedGeneration is the generation of the spec that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// value is the last good value, as the provider gave it. It is written when it changes noticeably.
	// +optional
	Value *float64 `json:"value,omitempty"`

	// normalized is the value mapped to 0..1.
	// +optional
	Normalized *float64 `json:"normalized,omitempty"`

	// time is when the value was written.
	// +optional
	Time *metav1.Time `json:"time,omitempty"`

	// conditions: Available reports whether the last attempt to read the value succeeded.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// MetricSample is the value of a metric of a cluster, cloud or project.
type MetricSample struct {
	// name is the name in the reference to the metric.
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// namespace is where the Metric lies. Empty means a GlobalMetric.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// value is the last good value, as the provider gave it. It is absent if there never was one.
	// +optional
	Value *float64 `json:"value,omitempty"`

	// normalized is the value mapped to 0..1 by the range of the metric.
	// +optional
	Normalized *float64 `json:"normalized,omitempty"`

	// time is when the value was written. It is not renewed while the value stays the same.
	// +optional
	Time *metav1.Time `json:"time,omitempty"`

	// stale is true when the last good value is older than the maxAge of the metric. It then counts
	// only where an application runs already.
	// +optional
	Stale bool `json:"stale,omitempty"`

	// reason is why the last attempt to read the metric failed, empty if it succeeded.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`
}

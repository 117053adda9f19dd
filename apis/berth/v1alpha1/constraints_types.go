// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// ClusterConstraints are what a cluster must meet, all of them. A label or metric that a cluster does not have meets no
// constraint, not even "is not" or "not in". "berthctl preview constraint" tells what is wrong with one, and where.
type ClusterConstraints struct {
	// clusterLabels are constraints on the labels of the cluster: "location is DE", "location is not DE", "location in (DE,
	// SK)", "location not in (DE, SK)". "=" and "==" mean is, "!=" means is not.
	// +optional
	ClusterLabels LabelConstraints `json:"clusterLabels,omitempty"`

	// clusterMetrics are constraints on the metrics of the cluster, or on the numbers in its spec: "load is 5", "load is not
	// 5", "load greater than 5", "load less than or equal 5", "serverPrice <= 10", "flavor.large >= 3". The symbols =, ==, !=,
	// >, >=, =>, <, <=, =< and the words gt, gte, lt, lte mean the same. The numbers are serverPrice, cpuCapacity, memCapacity,
	// eipCapacity, flavor.ID and storage.ID; 0 counts as not given. The value of a metric is compared as its provider gives
	// it.
	// +optional
	ClusterMetrics MetricConstraints `json:"clusterMetrics,omitempty"`

	// customResources must all be among those of the cluster, each as "plural.group".
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	CustomResources []string `json:"customResources,omitempty"`
}

// LabelConstraints are constraints on labels.
//
// +listType=atomic
// +kubebuilder:validation:MaxItems=20
// +kubebuilder:validation:items:MaxLength=1024
// +kubebuilder:validation:XValidation:rule=`self.all(c, c.matches(r'^[ \t]*[A-Za-z0-9_./-]+([ \t]*(==?|!=)[ \t]*[A-Za-z0-9_.-]+|[ \t]+is([ \t]*not)?[ \t]+[A-Za-z0-9_.-]+|[ \t]+(not[ \t]*)?in[ \t]*\([ \t]*[A-Za-z0-9_.-]+([ \t]*,[ \t]*[A-Za-z0-9_.-]+)*([ \t]*,)*[ \t]*\))[ \t]*$'))`,message="each must be a constraint such as 'location is DE', 'location is not DE', 'location in (DE, SK)' or 'location not in (DE, SK)'; berthctl preview constraint tells the column of a mistake"
type LabelConstraints []string

// MetricConstraints are constraints on metrics and other numbers.
//
// +listType=atomic
// +kubebuilder:validation:MaxItems=20
// +kubebuilder:validation:items:MaxLength=1024
// +kubebuilder:validation:XValidation:rule=`self.all(c, c.matches(r'^[ \t]*[A-Za-z0-9_./-]+([ \t]*(==?|!=|>=?|=>|<=?|=<)|[ \t]+(is([ \t]*not)?|gte?|lte?|(greater|less(er)?)[ \t]*than([ \t]*or[ \t]*equal([ \t]*to)?)?|is[ \t]*(greater|less(er)?)[ \t]*than[ \t]*or[ \t]*equal[ \t]*to)[ \t])[ \t]*([+-]?([0-9]+([.][0-9]+)?|[.][0-9]+)([eE][+-]?[0-9]{1,4})?|inf)[ \t]*$'))`,message="each must be a constraint such as 'load is 5', 'load is not 5', 'load < 5', 'load >= 5' or 'load greater than 5'; berthctl preview constraint tells the column of a mistake"
type MetricConstraints []string

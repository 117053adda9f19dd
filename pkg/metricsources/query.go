// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package metricsources

import (
	"strings"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

const (
	// placeholder is how a part of a query begins that is another one for each place. It ends with
	// ")".
	placeholder = "$("
	// nameOfPlace and labelOfPlace are what may follow: the name, or what comes before the key of a
	// label.
	nameOfPlace, labelOfPlace = "cluster", "labels."
)

// QueryOf returns what a provider is asked for a metric. The name is that of the metric object.
func QueryOf(name string, spec *berthv1alpha1.MetricSpec) string {
	if spec.Provider.Metric != "" {
		return spec.Provider.Metric
	}
	return name
}

// PerPlace reports whether a query is another one for each place: it has $(cluster) or
// $(labels.KEY) in it.
func PerPlace(query string) bool { return strings.Contains(query, placeholder) }

// Expand puts the name and the labels of a place into a query. An error is an *Error: the place
// lacks a label, or the query cannot be understood.
func Expand(query, name string, labels map[string]string) (string, error) {
	var text strings.Builder
	for {
		before, rest, found := strings.Cut(query, placeholder)
		text.WriteString(before)
		if !found {
			return text.String(), nil
		}
		what, after, closed := strings.Cut(rest, ")")
		key, isLabel := strings.CutPrefix(what, labelOfPlace)
		switch value, labelled := labels[key]; {
		case closed && what == nameOfPlace:
			text.WriteString(name)
		case !closed || !isLabel || key == "":
			return "", failure(berthv1alpha1.ReasonInvalidMetric, "$( must be followed by cluster) or labels.KEY)")
		case !labelled:
			return "", failure(berthv1alpha1.ReasonMissingLabel, "there is no label %s", key)
		default:
			text.WriteString(value)
		}
		query = after
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/clusters"
)

// Labels returns labels for a cell.
func Labels(of map[string]string) string {
	texts := make([]string, 0, len(of))
	for _, key := range slices.Sorted(maps.Keys(of)) {
		texts = append(texts, key+"="+of[key])
	}
	return clusters.OrNone(strings.Join(texts, ","))
}

// Samples returns metrics for a cell: each with its value, or with the reason why it has none.
func Samples(of []berthv1alpha1.MetricSample) string {
	texts := make([]string, 0, len(of))
	for _, sample := range of {
		value := sample.Reason
		if sample.Value != nil {
			value = fmt.Sprintf("%.4g", *sample.Value)
		}
		texts = append(texts, sample.Name+"="+value)
	}
	return clusters.OrNone(strings.Join(texts, ","))
}

// Condition returns the status and the reason of a condition for two cells.
func Condition(of []metav1.Condition, kind string) (status, reason string) {
	condition := apimeta.FindStatusCondition(of, kind)
	if condition == nil {
		return string(metav1.ConditionUnknown), clusters.OrNone("")
	}
	return string(condition.Status), condition.Reason
}

// Place returns a cloud or project for a cell.
func Place(of *berthv1alpha1.CloudReference) string {
	if of == nil {
		return clusters.OrNone("")
	}
	return of.Name
}

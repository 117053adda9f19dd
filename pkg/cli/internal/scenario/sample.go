// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"errors"
	"slices"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/metricsources"
	"berth.dev/berth/pkg/placement/rank"
)

// sample brings the values of the metrics of a cluster up to date.
func (s *Scenario) sample(cluster *berthv1alpha1.Cluster) {
	for _, reference := range cluster.Spec.Metrics {
		i := slices.IndexFunc(cluster.Status.Metrics, func(m berthv1alpha1.MetricSample) bool {
			return m.Name == reference.Name && m.Namespace == reference.Namespace
		})
		if i < 0 {
			i = len(cluster.Status.Metrics)
			cluster.Status.Metrics = append(cluster.Status.Metrics,
				berthv1alpha1.MetricSample{Name: reference.Name, Namespace: reference.Namespace})
		}
		s.update(cluster, reference, &cluster.Status.Metrics[i])
	}
}

// update reads a metric. If that fails the last value stays, and says so.
func (s *Scenario) update(
	cluster *berthv1alpha1.Cluster, reference berthv1alpha1.MetricReference, sample *berthv1alpha1.MetricSample,
) {
	metric, found := s.metrics[keyOf(reference.Namespace, reference.Name)]
	if !found {
		sample.Stale, sample.Reason = true, berthv1alpha1.ReasonUnknownMetric
		return
	}
	provider, found := s.providers[keyOf(reference.Namespace, metric.Provider.Name)]
	switch {
	case !found:
		sample.Stale, sample.Reason = true, berthv1alpha1.ReasonUnknownProvider
		return
	case provider.Type != berthv1alpha1.StaticMetrics && sample.Value != nil:
		observed(metric, sample)
		return
	case provider.Type != berthv1alpha1.StaticMetrics:
		sample.Reason = "its provider is of type " + string(provider.Type) + " and is not asked here"
		return
	}
	taken, err := read(provider, reference.Name, metric, cluster)
	if err != nil {
		sample.Stale, sample.Reason = true, berthv1alpha1.ReasonInvalidProvider
		if known := (*metricsources.Error)(nil); errors.As(err, &known) {
			sample.Reason = known.Reason
		}
		return
	}
	sample.Value, sample.Normalized, sample.Stale, sample.Reason = &taken.Value, &taken.Normalized, false, ""
}

// observed keeps the value that was observed, for what it was worth then.
func observed(metric *berthv1alpha1.MetricSpec, sample *berthv1alpha1.MetricSample) {
	if sample.Normalized != nil {
		return
	}
	normalized, err := rank.NormalizeMetric(*sample.Value, metric)
	if err != nil {
		sample.Reason = berthv1alpha1.ReasonOutOfRange
		return
	}
	sample.Normalized = &normalized
}

func read(
	provider *berthv1alpha1.MetricsProviderSpec, name string, metric *berthv1alpha1.MetricSpec, cluster *berthv1alpha1.Cluster,
) (metricsources.Sample, error) {
	source, err := metricsources.New(provider, metricsources.Options{})
	if err != nil {
		return metricsources.Sample{}, err
	}
	query, err := metricsources.Expand(metricsources.QueryOf(name, metric), cluster.Name, cluster.Labels)
	if err != nil {
		return metricsources.Sample{}, err
	}
	return metricsources.Take(context.Background(), source, query, metric)
}

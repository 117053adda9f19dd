// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/metricsources"
	"berth.dev/berth/pkg/placement/names"
	"berth.dev/berth/pkg/placement/rank"
)

// defaultMaxAge is the maxAge of metrics that the API server gave none.
const defaultMaxAge = 5 * time.Minute

// maxNamed bounds the metrics that a message names.
const maxNamed = 5

// measured is the value of a metric as it is to be shown.
type measured struct {
	value, normalized *float64
	stale             bool
	err               *metricsources.Error
}

// measure normalises what was read with the present range of the metric.
func measure(m *metric, r reading, now time.Time) measured {
	maxAge := defaultMaxAge
	if m.spec.MaxAge != nil {
		maxAge = m.spec.MaxAge.Duration
	}
	result := measured{err: r.err}
	if r.value == nil {
		return result
	}
	normalized, err := rank.NormalizeMetric(*r.value, m.spec)
	if err != nil {
		if result.err == nil {
			result.err = outOfRange(err)
		}
		return result
	}
	result.value, result.normalized = r.value, &normalized
	result.stale = r.err != nil && now.Sub(r.since) >= maxAge
	return result
}

func outOfRange(err error) *metricsources.Error {
	reason := berthv1alpha1.ReasonOutOfRange
	if errors.Is(err, rank.ErrEmptyRange) {
		reason = berthv1alpha1.ReasonInvalidMetric
	}
	return &metricsources.Error{Reason: reason, Message: err.Error()}
}

// differs reports whether a normalised value is far enough from the one that is written.
func differs(before, after *float64, threshold float64) bool {
	if before == nil || after == nil {
		return before != after
	}
	return math.Abs(*before-*after) > threshold
}

// samples returns the samples of a place. What is known of a metric that fails stays.
func (r *Reconciler) samples(
	w *world, place client.Object, references []berthv1alpha1.MetricReference, before []berthv1alpha1.MetricSample, now time.Time,
) []berthv1alpha1.MetricSample {
	var after []berthv1alpha1.MetricSample
	for _, reference := range references {
		sample := berthv1alpha1.MetricSample{Name: reference.Name, Namespace: reference.Namespace}
		i := slices.IndexFunc(before, func(s berthv1alpha1.MetricSample) bool {
			return s.Name == reference.Name && s.Namespace == reference.Namespace
		})
		if i >= 0 {
			sample = before[i]
		}
		m := w.metricOf(place, reference)
		if m == nil {
			sample.Stale, sample.Reason = sample.Value != nil, berthv1alpha1.ReasonUnknownMetric
			after = append(after, sample)
			continue
		}
		query, failed := m.queryFor(place)
		if failed != nil {
			sample.Stale, sample.Reason = sample.Value != nil, failed.Reason
			after = append(after, sample)
			continue
		}
		if found, read := r.sampler.readings.metric(readingKey{m.uid, query}); read {
			r.fill(&sample, measure(m, found, now), now, w.crosses)
			after = append(after, sample)
		} else if i >= 0 {
			after = append(after, sample)
		}
	}
	return after
}

func (r *Reconciler) fill(
	sample *berthv1alpha1.MetricSample, m measured, now time.Time, crosses func(name string, before, after float64) bool,
) {
	sample.Reason = ""
	if m.err != nil {
		sample.Reason = m.err.Reason
	}
	sample.Stale = m.stale
	switch {
	case m.value == nil:
		sample.Stale = sample.Value != nil
	case sample.Value == nil || differs(sample.Normalized, m.normalized, r.Threshold) || crosses(sample.Name, *sample.Value, *m.value):
		sample.Value, sample.Normalized, sample.Time = m.value, m.normalized, &metav1.Time{Time: now}
	}
}

// available is the condition MetricsAvailable for samples, and for references that have none yet.
func available(references int, samples []berthv1alpha1.MetricSample) (metav1.Condition, bool) {
	condition := metav1.Condition{
		Type: berthv1alpha1.MetricsAvailable, Status: metav1.ConditionTrue, Reason: berthv1alpha1.ReasonMetricsRead,
		Message: "all metrics were read",
	}
	if references == 0 || len(samples) < references {
		return condition, false
	}
	var failing []string
	for _, sample := range samples {
		if sample.Reason == "" {
			continue
		}
		if len(failing) == 0 {
			condition.Status, condition.Reason = metav1.ConditionFalse, sample.Reason
		}
		failing = append(failing, fmt.Sprintf("metric %s: %s", sample.Name, sample.Reason))
	}
	if len(failing) > 0 {
		condition.Message = names.First(failing, maxNamed, ", ")
	}
	return condition, true
}

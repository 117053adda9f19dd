// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/metricsources"
	"berth.dev/berth/pkg/placement/names"
)

// setMetric sets the status of a metric.
func (r *Reconciler) setMetric(object client.Object, m measured, now time.Time) {
	status := statusOf(object)
	if status == nil {
		return
	}
	status.ObservedGeneration = object.GetGeneration()
	if m.value != nil && (status.Value == nil || differs(status.Normalized, m.normalized, r.Threshold)) {
		status.Value, status.Normalized, status.Time = m.value, m.normalized, &metav1.Time{Time: now}
	}
	apimeta.SetStatusCondition(&status.Conditions, outcome(metav1.Condition{
		Type: berthv1alpha1.MetricAvailable, Reason: berthv1alpha1.ReasonMetricsRead, Message: "the value was read",
		ObservedGeneration: object.GetGeneration(),
	}, m.err))
}

// statusOf returns the status of a metric, nil for other objects.
func statusOf(object client.Object) *berthv1alpha1.MetricStatus {
	switch o := object.(type) {
	case *berthv1alpha1.Metric:
		return &o.Status
	case *berthv1alpha1.GlobalMetric:
		return &o.Status
	}
	return nil
}

// setProvider sets the status of a provider.
func setProvider(object client.Object, failed *metricsources.Error) {
	var status *berthv1alpha1.MetricsProviderStatus
	switch o := object.(type) {
	case *berthv1alpha1.MetricsProvider:
		status = &o.Status
	case *berthv1alpha1.GlobalMetricsProvider:
		status = &o.Status
	default:
		return
	}
	status.ObservedGeneration = object.GetGeneration()
	apimeta.SetStatusCondition(&status.Conditions, outcome(metav1.Condition{
		Type: berthv1alpha1.ProviderReachable, Reason: berthv1alpha1.ReasonProviderAnswers, Message: "the provider answers",
		ObservedGeneration: object.GetGeneration(),
	}, failed))
}

// outcome returns a condition that is true for what succeeded, and has the reason and message of
// the error for what failed.
func outcome(succeeded metav1.Condition, failed *metricsources.Error) metav1.Condition {
	succeeded.Status = metav1.ConditionTrue
	if failed != nil {
		succeeded.Status, succeeded.Reason, succeeded.Message = metav1.ConditionFalse, failed.Reason, failed.Message
	}
	return succeeded
}

// setPlace sets the samples of a Cluster, cloud or project.
func (r *Reconciler) setPlace(w *world, object client.Object, now time.Time) {
	references, samples, conditions := partsOf(object)
	switch o := object.(type) {
	// The cluster controller owns observedGeneration of Clusters.
	case *berthv1alpha1.Cloud:
		o.Status.ObservedGeneration = o.Generation
	case *berthv1alpha1.GlobalCloud:
		o.Status.ObservedGeneration = o.Generation
	case *berthv1alpha1.OpenStackProject:
		o.Status.ObservedGeneration = o.Generation
	}
	*samples = r.samples(w, object, references, *samples, now)
	condition, known := available(len(references), *samples)
	switch {
	case known:
		condition.ObservedGeneration = object.GetGeneration()
		apimeta.SetStatusCondition(conditions, condition)
	case len(references) == 0:
		apimeta.RemoveStatusCondition(conditions, berthv1alpha1.MetricsAvailable)
	}
}

// setPerPlace sets the status of a metric that has a value for each place. The values stand there.
func (r *Reconciler) setPerPlace(w *world, m *metric, object client.Object, now time.Time) {
	status := statusOf(object)
	if status == nil {
		return
	}
	status.ObservedGeneration = object.GetGeneration()
	status.Value, status.Normalized, status.Time = nil, nil, nil
	condition := metav1.Condition{
		Type: berthv1alpha1.MetricAvailable, Status: metav1.ConditionTrue, Reason: berthv1alpha1.ReasonMetricsRead,
		Message: "it has a value for each cluster that lists it", ObservedGeneration: object.GetGeneration(),
	}
	var failing []string
	for _, place := range w.users(m) {
		query, failed := m.queryFor(place)
		if failed == nil {
			found, read := r.sampler.readings.metric(readingKey{m.uid, query})
			if failed = measure(m, found, now).err; !read || failed == nil {
				continue
			}
		}
		if len(failing) == 0 {
			condition.Status, condition.Reason = metav1.ConditionFalse, failed.Reason
		}
		failing = append(failing, place.GetName()+": "+failed.Message)
	}
	if len(failing) > 0 {
		condition.Message = names.First(failing, maxNamed, ", ")
	}
	apimeta.SetStatusCondition(&status.Conditions, condition)
}

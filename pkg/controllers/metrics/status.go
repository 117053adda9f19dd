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
)

// setMetric sets the status of a metric.
func (r *Reconciler) setMetric(object client.Object, m measured, now time.Time) {
	var status *berthv1alpha1.MetricStatus
	switch o := object.(type) {
	case *berthv1alpha1.Metric:
		status = &o.Status
	case *berthv1alpha1.GlobalMetric:
		status = &o.Status
	default:
		return
	}
	status.ObservedGeneration = object.GetGeneration()
	if m.value != nil && (status.Value == nil || differs(status.Normalized, m.normalized, r.Threshold)) {
		status.Value, status.Normalized, status.Time = m.value, m.normalized, &metav1.Time{Time: now}
	}
	setCondition(&status.Conditions, object, berthv1alpha1.MetricAvailable, m.err,
		berthv1alpha1.ReasonMetricsRead, "the value was read")
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
	setCondition(&status.Conditions, object, berthv1alpha1.ProviderReachable, failed,
		berthv1alpha1.ReasonProviderAnswers, "the provider answers")
}

func setCondition(
	conditions *[]metav1.Condition, object client.Object, kind string, failed *metricsources.Error, reason, message string,
) {
	condition := metav1.Condition{
		Type: kind, Status: metav1.ConditionTrue, Reason: reason, Message: message, ObservedGeneration: object.GetGeneration(),
	}
	if failed != nil {
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, failed.Reason, failed.Message
	}
	apimeta.SetStatusCondition(conditions, condition)
}

// setPlace sets the samples of a Cluster, cloud or project.
func (r *Reconciler) setPlace(w *world, object client.Object, now time.Time) {
	var references []berthv1alpha1.MetricReference
	var samples *[]berthv1alpha1.MetricSample
	var conditions *[]metav1.Condition
	switch o := object.(type) {
	case *berthv1alpha1.Cluster:
		// The cluster controller owns observedGeneration there.
		references, samples, conditions = o.Spec.Metrics, &o.Status.Metrics, &o.Status.Conditions
	case *berthv1alpha1.Cloud:
		references, samples, conditions = o.Spec.Metrics, &o.Status.Metrics, &o.Status.Conditions
		o.Status.ObservedGeneration = o.Generation
	case *berthv1alpha1.GlobalCloud:
		references, samples, conditions = o.Spec.Metrics, &o.Status.Metrics, &o.Status.Conditions
		o.Status.ObservedGeneration = o.Generation
	case *berthv1alpha1.OpenStackProject:
		references, samples, conditions = o.Spec.Metrics, &o.Status.Metrics, &o.Status.Conditions
		o.Status.ObservedGeneration = o.Generation
	default:
		return
	}
	*samples = r.samples(w, object.GetNamespace(), references, *samples, now)
	condition, known := available(len(references), *samples)
	switch {
	case known:
		condition.ObservedGeneration = object.GetGeneration()
		apimeta.SetStatusCondition(conditions, condition)
	case len(references) == 0:
		apimeta.RemoveStatusCondition(conditions, berthv1alpha1.MetricsAvailable)
	}
}

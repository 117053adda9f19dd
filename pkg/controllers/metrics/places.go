// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/metricsources"
)

// places returns everything that has metrics or had some. The objects must not be changed.
func places(ctx context.Context, reader client.Reader) ([]client.Object, error) {
	var (
		clusters     berthv1alpha1.ClusterList
		clouds       berthv1alpha1.CloudList
		globalClouds berthv1alpha1.GlobalCloudList
		projects     berthv1alpha1.OpenStackProjectList
	)
	for _, list := range []client.ObjectList{&clusters, &clouds, &globalClouds, &projects} {
		if err := reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("listing what has metrics: %w", err)
		}
	}
	var found []client.Object
	for i := range clusters.Items {
		if hasMetrics(&clusters.Items[i]) {
			found = append(found, &clusters.Items[i])
		}
	}
	for i := range clouds.Items {
		found = append(found, &clouds.Items[i])
	}
	for i := range globalClouds.Items {
		found = append(found, &globalClouds.Items[i])
	}
	for i := range projects.Items {
		found = append(found, &projects.Items[i])
	}
	slices.SortStableFunc(found, func(a, b client.Object) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return found, nil
}

// hasMetrics reports whether there is something to tell of the metrics of a Cluster, or has been:
// there may be a thousand Clusters without, and each is costly to copy and to compare.
func hasMetrics(cluster *berthv1alpha1.Cluster) bool {
	return len(cluster.Spec.Metrics)+len(cluster.Status.Metrics) > 0 ||
		apimeta.FindStatusCondition(cluster.Status.Conditions, berthv1alpha1.MetricsAvailable) != nil
}

// partsOf returns what a place lists, and where its samples and conditions stand.
func partsOf(place client.Object) (
	references []berthv1alpha1.MetricReference, samples *[]berthv1alpha1.MetricSample, conditions *[]metav1.Condition,
) {
	switch o := place.(type) {
	case *berthv1alpha1.Cluster:
		return o.Spec.Metrics, &o.Status.Metrics, &o.Status.Conditions
	case *berthv1alpha1.Cloud:
		return o.Spec.Metrics, &o.Status.Metrics, &o.Status.Conditions
	case *berthv1alpha1.GlobalCloud:
		return o.Spec.Metrics, &o.Status.Metrics, &o.Status.Conditions
	case *berthv1alpha1.OpenStackProject:
		return o.Spec.Metrics, &o.Status.Metrics, &o.Status.Conditions
	}
	return nil, new([]berthv1alpha1.MetricSample), new([]metav1.Condition)
}

// question is what a provider is asked for a metric.
type question struct {
	metric *metric
	query  string
	// last is the last value that is known of an earlier process.
	last *float64
}

func (q *question) key() readingKey { return readingKey{q.metric.uid, q.query} }

// readPlaces reads what has metrics, if there is a metric that is another one for each place.
func (w *world) readPlaces(ctx context.Context, reader client.Reader) (err error) {
	for _, m := range w.metrics {
		if m.perPlace() {
			w.places, err = places(ctx, reader)
			return err
		}
	}
	return nil
}

// metricOf returns the metric that a place means, nil if there is none or it is not for that place.
func (w *world) metricOf(place client.Object, reference berthv1alpha1.MetricReference) *metric {
	if own := place.GetNamespace(); own != "" && reference.Namespace != "" && reference.Namespace != own {
		return nil
	}
	return w.metrics[keyOf(reference.Namespace, reference.Name)]
}

// users returns the places that list a metric.
func (w *world) users(m *metric) (found []client.Object) {
	for _, place := range w.places {
		references, _, _ := partsOf(place)
		if slices.ContainsFunc(references, func(r berthv1alpha1.MetricReference) bool { return w.metricOf(place, r) == m }) {
			found = append(found, place)
		}
	}
	return found
}

// queryFor returns what is asked for the metric of a place.
func (m *metric) queryFor(place client.Object) (string, *metricsources.Error) {
	query, err := metricsources.Expand(m.query(), place.GetName(), place.GetLabels())
	if err == nil {
		return query, nil
	}
	var known *metricsources.Error
	if !errors.As(err, &known) {
		known = &metricsources.Error{Reason: berthv1alpha1.ReasonInvalidMetric, Message: err.Error()}
	}
	return "", known
}

// questions returns what is asked: one question for a metric, or one for each different query of
// the places that list it.
func (w *world) questions() []*question {
	asked := map[readingKey]*question{}
	ask := func(q *question) {
		if asked[q.key()] == nil {
			asked[q.key()] = q
		}
	}
	for _, m := range w.metrics {
		if !m.perPlace() {
			ask(&question{metric: m, query: m.query(), last: m.status.Value})
		}
	}
	for _, place := range w.places {
		references, samples, _ := partsOf(place)
		for _, reference := range references {
			m := w.metricOf(place, reference)
			if m == nil || !m.perPlace() {
				continue
			}
			if query, failed := m.queryFor(place); failed == nil {
				ask(&question{metric: m, query: query, last: lastOf(*samples, reference)})
			}
		}
	}
	return slices.SortedFunc(maps.Values(asked), func(a, b *question) int { return cmp.Compare(a.query, b.query) })
}

// lastOf returns the value of a sample, nil if there is none.
func lastOf(samples []berthv1alpha1.MetricSample, reference berthv1alpha1.MetricReference) *float64 {
	for i := range samples {
		if samples[i].Name == reference.Name && samples[i].Namespace == reference.Namespace {
			return samples[i].Value
		}
	}
	return nil
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/metricsources"
	"berth.dev/berth/pkg/placement/constraint"
)

// key names a metric or provider. The namespace of global ones is empty. Where Krake's names have
// underscores, names of Kubernetes objects have hyphens.
type key struct{ namespace, name string }

func keyOf(namespace, name string) key {
	return key{namespace, strings.ReplaceAll(name, "_", "-")}
}

// metric is a Metric or GlobalMetric.
type metric struct {
	object client.Object
	uid    types.UID
	spec   *berthv1alpha1.MetricSpec
	status *berthv1alpha1.MetricStatus
}

// query is what its provider is asked.
func (m *metric) query() string { return metricsources.QueryOf(m.object.GetName(), m.spec) }

// perPlace reports whether it has a value for each place.
func (m *metric) perPlace() bool { return metricsources.PerPlace(m.query()) }

// source names the provider of the metric.
func (m *metric) source() key { return keyOf(m.object.GetNamespace(), m.spec.Provider.Name) }

// provider is a MetricsProvider or GlobalMetricsProvider.
type provider struct {
	object client.Object
	uid    types.UID
	spec   *berthv1alpha1.MetricsProviderSpec
	status *berthv1alpha1.MetricsProviderStatus
	// secret names the Secret with the credentials. Providers of namespaces have none.
	secret string
}

// world is what metrics and providers there are.
type world struct {
	metrics   map[key]*metric
	providers map[key]*provider
	// places are what has metrics. They are nil in questions that are not about places.
	places []client.Object
	// constraints are those in force, by the name of the metric; nil while they do not matter.
	constraints map[string][]*constraint.Constraint
}

// readWorld reads the metrics and providers from the cache.
func readWorld(ctx context.Context, reader client.Reader) (*world, error) {
	w := &world{metrics: map[key]*metric{}, providers: map[key]*provider{}}
	var (
		globalMetrics   berthv1alpha1.GlobalMetricList
		metrics         berthv1alpha1.MetricList
		globalProviders berthv1alpha1.GlobalMetricsProviderList
		providers       berthv1alpha1.MetricsProviderList
	)
	for _, list := range []client.ObjectList{&globalMetrics, &metrics, &globalProviders, &providers} {
		if err := reader.List(ctx, list); err != nil {
			return nil, fmt.Errorf("listing metrics and their providers: %w", err)
		}
	}
	for i := range globalMetrics.Items {
		m := &globalMetrics.Items[i]
		w.metrics[keyOf("", m.Name)] = &metric{m, m.UID, &m.Spec, &m.Status}
	}
	for i := range metrics.Items {
		m := &metrics.Items[i]
		w.metrics[keyOf(m.Namespace, m.Name)] = &metric{m, m.UID, &m.Spec, &m.Status}
	}
	for i := range globalProviders.Items {
		p := &globalProviders.Items[i]
		w.providers[keyOf("", p.Name)] = &provider{p, p.UID, &p.Spec.MetricsProviderSpec, &p.Status, p.Spec.CredentialsSecret}
	}
	for i := range providers.Items {
		p := &providers.Items[i]
		w.providers[keyOf(p.Namespace, p.Name)] = &provider{object: p, uid: p.UID, spec: &p.Spec, status: &p.Status}
	}
	return w, nil
}

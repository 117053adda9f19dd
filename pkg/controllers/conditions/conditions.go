// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package conditions exports how many objects of Berth's kinds have which conditions.
package conditions

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

const (
	// maxSeries bounds the series of all kinds together: Berth's own reasons are far fewer, but
	// others may write conditions, too. What is rarest counts under others.
	maxSeries = 300
	others    = "_other"

	// patience is how long one reading of the metrics waits for a cache that is not filled yet.
	patience = 2 * time.Second
)

var published = &collector{description: prometheus.NewDesc("berth_object_conditions",
	"Objects of Berth's kinds by their conditions.", []string{"kind", "condition", "status", "reason"}, nil)}

func init() {
	metrics.Registry.MustRegister(published)
}

// Export counts the conditions of what the client reads at each reading of the metrics, until the
// context ends. Kinds that served does not know are left out; the client should read from a cache.
// Of several instances only the one that leads should export, since each would count everything.
func Export(ctx context.Context, reader client.Reader, served func(kind string) bool) {
	published.set(reader, served)
	defer published.set(nil, nil)
	<-ctx.Done()
}

// lists are the kinds whose conditions are counted.
var lists = map[string]func() client.ObjectList{
	"Application":              func() client.ObjectList { return &berthv1alpha1.ApplicationList{} },
	"Cluster":                  func() client.ObjectList { return &berthv1alpha1.ClusterList{} },
	"ClusterPropagationPolicy": func() client.ObjectList { return &berthv1alpha1.ClusterPropagationPolicyList{} },
	"ClusterResource":          func() client.ObjectList { return &berthv1alpha1.ClusterResourceList{} },
	"PropagationPolicy":        func() client.ObjectList { return &berthv1alpha1.PropagationPolicyList{} },
	"Scheduler":                func() client.ObjectList { return &berthv1alpha1.SchedulerList{} },
}

// conditionsOf returns the conditions of an object of one of these kinds.
func conditionsOf(object runtime.Object) []metav1.Condition {
	switch o := object.(type) {
	case *berthv1alpha1.Application:
		return o.Status.Conditions
	case *berthv1alpha1.Cluster:
		return o.Status.Conditions
	case *berthv1alpha1.ClusterPropagationPolicy:
		return o.Status.Conditions
	case *berthv1alpha1.ClusterResource:
		return o.Status.Conditions
	case *berthv1alpha1.PropagationPolicy:
		return o.Status.Conditions
	case *berthv1alpha1.Scheduler:
		return o.Status.Conditions
	}
	return nil
}

// series is what objects are counted under.
type series struct{ kind, condition, status, reason string }

type collector struct {
	description *prometheus.Desc

	mu     sync.Mutex
	reader client.Reader
	served func(kind string) bool
}

func (c *collector) set(reader client.Reader, served func(kind string) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reader, c.served = reader, served
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- c.description
}

// Collect implements prometheus.Collector. A kind that cannot be listed now has no samples, rather
// than 0 of everything; the other metrics are read all the same.
func (c *collector) Collect(collected chan<- prometheus.Metric) {
	c.mu.Lock()
	reader, served := c.reader, c.served
	c.mu.Unlock()
	if reader == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for s, n := range bounded(count(ctx, reader, served)) {
		collected <- prometheus.MustNewConstMetric(c.description, prometheus.GaugeValue, float64(n), s.kind, s.condition, s.status, s.reason)
	}
}

// count counts all objects that can be listed.
func count(ctx context.Context, reader client.Reader, served func(kind string) bool) map[series]int {
	counts := map[series]int{}
	for kind, newList := range lists {
		list := newList()
		if !served(kind) || reader.List(ctx, list, client.UnsafeDisableDeepCopy) != nil {
			continue
		}
		_ = apimeta.EachListItem(list, func(object runtime.Object) error {
			for _, condition := range conditionsOf(object) {
				counts[series{kind, condition.Type, string(condition.Status), condition.Reason}]++
			}
			return nil
		})
	}
	return counts
}

// bounded sums the rarest series up if there are too many of them.
func bounded(counts map[series]int) map[series]int {
	if len(counts) <= maxSeries {
		return counts
	}
	order := slices.SortedFunc(maps.Keys(counts), func(a, b series) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a.kind, b.kind), cmp.Compare(a.condition, b.condition),
			cmp.Compare(a.status, b.status), cmp.Compare(a.reason, b.reason))
	})
	kept := make(map[series]int, maxSeries)
	for i, s := range order {
		if i >= maxSeries-1 {
			kept[series{others, others, others, others}] += counts[s]
			continue
		}
		kept[s] = counts[s]
	}
	return kept
}

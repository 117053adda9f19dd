// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Bounds of the metrics: pools beyond them are not told apart, ClusterResources beyond them are
// left out.
const (
	maxResourcesInMetrics = 100
	maxPoolsInMetrics     = 50
	otherPools            = "_other"
)

var amounts = &amountCollector{
	capacity: prometheus.NewDesc("berth_cluster_resource_capacity",
		"What pods may hold together of each pool of a ClusterResource, in its own unit such as bytes.",
		[]string{"resource", "pool"}, nil),
	allocated: prometheus.NewDesc("berth_cluster_resource_allocated",
		"What pods hold of each pool of a ClusterResource, in its own unit such as bytes.",
		[]string{"resource", "pool"}, nil),
	waiting: prometheus.NewDesc("berth_cluster_resource_waiting",
		"Pods that ask for a ClusterResource and have no node.",
		[]string{"resource"}, nil),
}

func init() {
	metrics.Registry.MustRegister(amounts)
}

// amountCollector holds what the last pass found.
type amountCollector struct {
	capacity, allocated, waiting *prometheus.Desc

	mu        sync.Mutex
	collected []prometheus.Metric
}

// set notes what a pass found, by the order of names.
func (c *amountCollector) set(seen []*observed) {
	var collected []prometheus.Metric
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		collected = append(collected, prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...))
	}
	for _, o := range seen[:min(len(seen), maxResourcesInMetrics)] {
		name := o.object.Name
		gauge(c.waiting, float64(o.waiting), name)
		for _, p := range o.series() {
			gauge(c.capacity, p.capacity.AsApproximateFloat64(), name, p.name)
			gauge(c.allocated, p.allocated.AsApproximateFloat64(), name, p.name)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.collected = collected
}

// series is what the metrics tell of a pool.
type series struct {
	name                string
	capacity, allocated resource.Quantity
}

// series returns the pools that are told apart, and the sum of all others.
func (o *observed) series() []series {
	allocatable := quantities(o.published.Status.Allocatable)
	var found []series
	for i, p := range o.allocated() {
		s := series{p.Name, allocatable[p.Name], p.Quantity}
		switch {
		case i < maxPoolsInMetrics:
			found = append(found, s)
		case i == maxPoolsInMetrics:
			found = append(found, series{otherPools, s.capacity.DeepCopy(), s.allocated.DeepCopy()})
		default:
			found[maxPoolsInMetrics].capacity.Add(s.capacity)
			found[maxPoolsInMetrics].allocated.Add(s.allocated)
		}
	}
	return found
}

// Describe implements prometheus.Collector.
func (c *amountCollector) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- c.capacity
	descriptions <- c.allocated
	descriptions <- c.waiting
}

// Collect implements prometheus.Collector.
func (c *amountCollector) Collect(collected chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, metric := range c.collected {
		collected <- metric
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"berth.dev/berth/pkg/model/charges"
	"berth.dev/berth/pkg/placement/pool"
)

// Bounds of the metrics: pools beyond them are not told apart, ClusterResources beyond them are
// left out.
const (
	maxResourcesInMetrics = 100
	maxPoolsInMetrics     = 50
	others                = "_other"
)

var amounts = &amountCollector{
	capacity: prometheus.NewDesc("berth_cluster_resource_capacity",
		"What pods may hold together of each pool of a ClusterResource, in its own unit such as bytes.",
		[]string{"resource", "pool"}, nil),
	allocated: prometheus.NewDesc("berth_cluster_resource_allocated",
		"What pods hold of each pool of a ClusterResource, in its own unit such as bytes.",
		[]string{"resource", "pool"}, nil),
	granted: prometheus.NewDesc("berth_cluster_resource_granted",
		"What several Schedulers together may give out of each pool of a ClusterResource, in its own unit such as bytes.",
		[]string{"resource", "pool"}, nil),
	overcommitted: prometheus.NewDesc("berth_pool_overcommitted_units",
		"Units of each pool of a ClusterResource that pods hold beyond what is allocatable.",
		[]string{"resource", "pool"}, nil),
	oldest: prometheus.NewDesc("berth_waiting_oldest_seconds",
		"Age of the oldest pod that asks for ClusterResources and has no node, by whether pools and nodes could take it.",
		[]string{"fits"}, nil),
	waiting: prometheus.NewDesc("berth_cluster_resource_waiting",
		"Pods that ask for a ClusterResource and have no node.",
		[]string{"resource"}, nil),
}

func init() {
	metrics.Registry.MustRegister(amounts)
}

// amountCollector holds what the last pass found.
type amountCollector struct {
	capacity, allocated, granted, overcommitted, oldest, waiting *prometheus.Desc

	mu                 sync.Mutex
	collected, oldests []prometheus.Metric
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
			gauge(c.overcommitted, p.over, name, p.name)
			if p.granted != nil {
				gauge(c.granted, p.granted.AsApproximateFloat64(), name, p.name)
			}
		}
	}
	// An overcommitted pool must not go unseen because there are too many of them.
	if len(seen) > maxResourcesInMetrics {
		over := 0.0
		for _, o := range seen[maxResourcesInMetrics:] {
			for _, p := range o.series() {
				over += p.over
			}
		}
		gauge(c.overcommitted, over, others, others)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.collected = collected
}

// setOldest notes since when the oldest pods wait, by whether they could be placed. No pod waits
// for 0 s.
func (c *amountCollector) setOldest(now time.Time, since map[bool]time.Time) {
	oldest := make([]prometheus.Metric, 0, 2)
	for _, fits := range []bool{false, true} {
		age := 0.0
		if first, waits := since[fits]; waits {
			age = max(0, now.Sub(first).Seconds())
		}
		oldest = append(oldest, prometheus.MustNewConstMetric(c.oldest, prometheus.GaugeValue, age, strconv.FormatBool(fits)))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.oldests = oldest
}

// series is what the metrics tell of a pool.
type series struct {
	name                string
	capacity, allocated resource.Quantity
	// granted is the sum of the grants, nil while nobody has one.
	granted *resource.Quantity
	// over is by how many units more is held than there is.
	over float64
}

// series returns the pools that are told apart, and the sum of all others.
func (o *observed) series() []series {
	allocatable, granted := charges.Quantities(o.published.Status.Allocatable), grantedOf(&o.object.Status)
	var found []series
	for i, p := range o.allocated() {
		s := series{
			name: p.Name, capacity: allocatable[p.Name], allocated: p.Quantity, over: o.over(p.Quantity, allocatable[p.Name]),
		}
		if sum, some := granted[p.Name]; some {
			s.granted = &sum
		}
		if i < maxPoolsInMetrics {
			found = append(found, s)
			continue
		}
		if i == maxPoolsInMetrics {
			found = append(found, series{name: others})
		}
		found[maxPoolsInMetrics].add(s)
	}
	return found
}

// add adds the amounts of another pool.
func (s *series) add(o series) {
	s.capacity.Add(o.capacity)
	s.allocated.Add(o.allocated)
	s.over += o.over
	if o.granted == nil {
		return
	}
	if s.granted == nil {
		s.granted = &resource.Quantity{}
	}
	s.granted.Add(*o.granted)
}

// over returns by how many units more is held of a pool than is allocatable.
func (o *observed) over(held, allocatable resource.Quantity) float64 {
	if held.Cmp(allocatable) <= 0 {
		return 0
	}
	unit := *resource.NewQuantity(1, resource.DecimalSI)
	if o.resource != nil {
		unit = o.resource.Unit()
	}
	over := held.DeepCopy()
	over.Sub(allocatable)
	return float64(pool.UnitsUp(over, unit))
}

// Describe implements prometheus.Collector.
func (c *amountCollector) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- c.capacity
	descriptions <- c.allocated
	descriptions <- c.granted
	descriptions <- c.overcommitted
	descriptions <- c.oldest
	descriptions <- c.waiting
}

// Collect implements prometheus.Collector.
func (c *amountCollector) Collect(collected chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, metric := range slices.Concat(c.collected, c.oldests) {
		collected <- metric
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"berth.dev/berth/pkg/placement/binding"
)

const (
	// maxSchedulersInMetrics bounds the series: schedulers beyond it, by name, are summed up as
	// otherSchedulers.
	maxSchedulersInMetrics = 100
	// No Scheduler can have one of these names.
	otherSchedulers, noScheduler = "_other", "_none"
)

// stepNames are the values of the label step; a step that changes nothing has none.
var stepNames = map[binding.Step]string{
	binding.Bind: "bind", binding.Drain: "drain", binding.Cancel: "cancel", binding.Move: "move", binding.Seize: "seize",
}

var (
	stepsTaken = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "berth_binding_steps_total",
		Help: "Changes of the binding of a cluster to a Scheduler, by step: bind, drain, cancel, move or seize.",
	}, []string{"step"})

	drainDuration = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "berth_binding_drain_duration_seconds",
		Help:    "Time from the request to a Scheduler to give a cluster up until the cluster moves.",
		Buckets: prometheus.ExponentialBuckets(0.1, 2, 12),
	})

	bound = &boundCollector{
		clusters: prometheus.NewDesc("berth_binding_clusters",
			"Clusters that are bound to each Scheduler.", []string{"scheduler"}, nil),
		draining: prometheus.NewDesc("berth_binding_draining_clusters",
			"Clusters that their Scheduler is asked to give up and has not given up yet.", nil, nil),
	}
)

func init() {
	metrics.Registry.MustRegister(stepsTaken, drainDuration, bound)
	for _, name := range stepNames {
		stepsTaken.WithLabelValues(name)
	}
}

// boundCollector holds what the last pass found.
type boundCollector struct {
	clusters, draining *prometheus.Desc

	mu     sync.Mutex
	counts map[string]int
	moving int
}

// set notes the bindings as they are after a pass. Schedulers without a cluster count 0.
func (c *boundCollector) set(schedulers []string, records []binding.Record) {
	counts, moving := map[string]int{}, 0
	for _, name := range schedulers {
		counts[name] = 0
	}
	for _, r := range records {
		counts[cmp.Or(r.Home, noScheduler)]++
		if r.Moving {
			moving++
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts, c.moving = counts, moving
}

// Describe implements prometheus.Collector.
func (c *boundCollector) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- c.clusters
	descriptions <- c.draining
}

// Collect implements prometheus.Collector.
func (c *boundCollector) Collect(collected chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	others := 0
	for i, name := range slices.Sorted(maps.Keys(c.counts)) {
		if i >= maxSchedulersInMetrics {
			others += c.counts[name]
			continue
		}
		collected <- prometheus.MustNewConstMetric(c.clusters, prometheus.GaugeValue, float64(c.counts[name]), name)
	}
	if len(c.counts) > maxSchedulersInMetrics {
		collected <- prometheus.MustNewConstMetric(c.clusters, prometheus.GaugeValue, float64(others), otherSchedulers)
	}
	collected <- prometheus.MustNewConstMetric(c.draining, prometheus.GaugeValue, float64(c.moving))
}

// drains remembers since when clusters drain. A controller that was started again knows no longer.
type drains struct {
	mu    sync.Mutex
	since map[string]time.Time
}

// note counts a step of a cluster that has been written.
func (d *drains) note(cluster string, step binding.Step, now time.Time) {
	if step == binding.Stay {
		return
	}
	stepsTaken.WithLabelValues(stepNames[step]).Inc()
	d.mu.Lock()
	defer d.mu.Unlock()
	since, known := d.since[cluster]
	switch {
	case step != binding.Drain:
		delete(d.since, cluster)
		if known && step == binding.Move {
			drainDuration.Observe(now.Sub(since).Seconds())
		}
	case !known:
		if d.since == nil {
			d.since = map[string]time.Time{}
		}
		d.since[cluster] = now
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var (
	// evictions counts attempts, not pods: a pod that is refused is tried again.
	evictions = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "berth_evictions_total",
		Help: "Attempts to evict a pod that runs outside its share, by outcome: evicted, refused_by_pdb, several_pdbs, gone or failed.",
	}, []string{"outcome"})

	adoptions = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "berth_adopted_pods_total",
		Help: "Bound pods that a policy has taken over because none had placed them.",
	})

	replicas = &replicaCollector{
		description: prometheus.NewDesc("berth_policy_replicas",
			"Replicas of all workloads that policies place, by state: desired, current, pending (pods without a node) or "+
				"misplaced (outside their share). The status of a policy has the numbers of each workload.",
			[]string{"state"}, nil),
		namespaces: map[string]totals{},
	}
)

func init() {
	metrics.Registry.MustRegister(evictions, adoptions, replicas)
	for _, result := range outcomes {
		evictions.WithLabelValues(string(result))
	}
}

// replicaCollector sums up what the last pass over each namespace found. Namespaces and policies
// are no labels: users make as many of them as they like.
type replicaCollector struct {
	description *prometheus.Desc

	mu         sync.Mutex
	namespaces map[string]totals
}

// countReplicas notes what a pass over a namespace found.
func countReplicas(namespace string, policies []*inForce) {
	var t totals
	for _, in := range policies {
		s := sum(in)
		t.desired += s.desired
		t.current += s.current
		t.pending += s.pending
		t.misplaced += s.misplaced
	}
	replicas.mu.Lock()
	defer replicas.mu.Unlock()
	replicas.namespaces[namespace] = t
}

// forgetReplicas notes that a namespace has no policy any more.
func forgetReplicas(namespace string) {
	replicas.mu.Lock()
	defer replicas.mu.Unlock()
	delete(replicas.namespaces, namespace)
}

// Describe implements prometheus.Collector.
func (c *replicaCollector) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- c.description
}

// Collect implements prometheus.Collector.
func (c *replicaCollector) Collect(collected chan<- prometheus.Metric) {
	c.mu.Lock()
	var t totals
	for _, n := range c.namespaces {
		t.desired += n.desired
		t.current += n.current
		t.pending += n.pending
		t.misplaced += n.misplaced
	}
	c.mu.Unlock()
	for state, value := range map[string]int{
		"desired": t.desired, "current": t.current, "pending": t.pending, "misplaced": t.misplaced,
	} {
		collected <- prometheus.MustNewConstMetric(c.description, prometheus.GaugeValue, float64(value), state)
	}
}

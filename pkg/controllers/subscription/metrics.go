// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/bundle"
)

var (
	passDuration = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "berth_subscription_pass_duration_seconds",
		Help:    "Time to divide the feeds of all Subscriptions once, and to write what has changed.",
		Buckets: prometheus.ExponentialBuckets(0.001, 4, 8),
	})

	totals = &collector{
		replicas: prometheus.NewDesc("berth_subscription_replicas",
			"Replicas of all feeds, by state: wanted, placed (a Cluster is to run them), unplaced (no room) or running (ready). "+
				"The status of a Subscription has the numbers of each feed.", []string{"state"}, nil),
		conditions: prometheus.NewDesc("berth_subscription_conditions",
			"Subscriptions by the reason that a condition of theirs has.", []string{"condition", "reason"}, nil),
	}
)

func init() {
	metrics.Registry.MustRegister(passDuration, totals)
}

// conditionReason is what a Subscription is counted under.
type conditionReason struct{ condition, reason string }

// summary is what the last pass found. Namespaces and names are no labels: users make as many of
// them as they like.
type summary struct {
	wanted, placed, unplaced, running int64
	reasons                           map[conditionReason]int
}

type collector struct {
	replicas, conditions *prometheus.Desc

	mu   sync.Mutex
	last summary
}

// add counts a Subscription, of which after is the state with its new status.
func (s *summary) add(o *outcome, after *berthv1alpha1.Subscription) {
	for i := range o.feeds {
		division := &o.decision.Feeds[i]
		wanted, running := o.replicas(i)
		s.wanted += wanted
		s.placed += bundle.Sum(division.Shares)
		s.unplaced += division.Unplaced + division.Lacking
		s.running += running
	}
	for _, kind := range []string{berthv1alpha1.SubscriptionScheduled, berthv1alpha1.SubscriptionAvailable, berthv1alpha1.SubscriptionDegraded} {
		// One that waits for its first turn has none yet.
		if c := apimeta.FindStatusCondition(after.Status.Conditions, kind); c != nil {
			s.reasons[conditionReason{kind, c.Reason}]++
		}
	}
}

// publish replaces what is exported.
func (c *collector) publish(s summary) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = s
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- c.replicas
	descriptions <- c.conditions
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(collected chan<- prometheus.Metric) {
	c.mu.Lock()
	s := c.last // The map is never changed.
	c.mu.Unlock()
	for state, value := range map[string]int64{
		"wanted": s.wanted, "placed": s.placed, "unplaced": s.unplaced, "running": s.running,
	} {
		collected <- prometheus.MustNewConstMetric(c.replicas, prometheus.GaugeValue, float64(value), state)
	}
	for key, n := range s.reasons {
		collected <- prometheus.MustNewConstMetric(c.conditions, prometheus.GaugeValue, float64(n), key.condition, key.reason)
	}
}

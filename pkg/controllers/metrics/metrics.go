// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var (
	reads = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "berth_metric_reads_total",
		Help: "Attempts to read a metric from its provider, by type of provider, none if there is no such provider, " +
			"and by the reason that the metric shows afterwards.",
	}, []string{"type", "reason"})

	readDuration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "berth_metric_read_duration_seconds",
		Help: "Time to read a metric from its provider, by type of provider.",
		// The last bucket is [4.1s, Inf): an attempt ends after 5s.
		Buckets: prometheus.ExponentialBuckets(0.002, 2, 12),
	}, []string{"type"})
)

// noProvider is the type of a provider that does not exist.
const noProvider = "none"

func init() {
	metrics.Registry.MustRegister(reads, readDuration)
}

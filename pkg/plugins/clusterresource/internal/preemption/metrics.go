// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package preemption

import (
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

var preemptedPods = metrics.NewCounter(&metrics.CounterOpts{
	Name:           "berth_cluster_resource_preempted_pods_total",
	Help:           "Pods that were made to give back a ClusterResource to a pod of higher priority.",
	StabilityLevel: metrics.ALPHA,
})

// RegisterMetrics makes the metrics of preemption visible. It may be called more than once.
func RegisterMetrics() {
	legacyregistry.Register(preemptedPods) //nolint:errcheck // registering twice is allowed
}

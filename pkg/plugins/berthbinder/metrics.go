// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package berthbinder

import (
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

var unclear = metrics.NewCounter(&metrics.CounterOpts{
	Subsystem:      "berth_binds",
	Name:           "unclear_total",
	Help:           "Bindings to which the API server gave no clear answer. Each is settled by a write to the pod.",
	StabilityLevel: metrics.ALPHA,
})

// RegisterMetrics registers the metric of this package. It may be called more than once.
func RegisterMetrics() {
	legacyregistry.Register(unclear) //nolint:errcheck // registering twice is allowed
}

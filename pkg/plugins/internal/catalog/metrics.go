// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

var knownObjects = metrics.NewGaugeVec(&metrics.GaugeOpts{
	Subsystem:      "berth_catalog",
	Name:           "known_objects",
	Help:           "Objects by which the scheduler decides at the moment, by kind. One that was created is in force once it counts here.",
	StabilityLevel: metrics.ALPHA,
}, []string{"kind"})

// RegisterMetrics registers the metrics of the package. It may be called more than once.
func RegisterMetrics() {
	legacyregistry.Register(knownObjects) //nolint:errcheck // registering twice is allowed
}

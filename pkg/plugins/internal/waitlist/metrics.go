// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package waitlist

import (
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

var lapsedOffers = metrics.NewCounter(&metrics.CounterOpts{
	Name: "berth_waiting_offers_lapsed_total",
	Help: "Offers of units or places that had become free which went to the next pod, " +
		"because nothing was heard of the first one for a second.",
	StabilityLevel: metrics.ALPHA,
})

// RegisterMetrics makes the metrics of the waiting lines visible. It may be called more than once.
func RegisterMetrics() {
	legacyregistry.Register(lapsedOffers) //nolint:errcheck // registering twice is allowed
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package metricsources

import (
	"context"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// static is a provider with fixed values.
type static map[string]float64

// Read implements Source.
func (s static) Read(_ context.Context, metric string) (float64, error) {
	value, found := s[metric]
	if !found {
		return 0, failure(berthv1alpha1.ReasonNoValue, "the provider has no value for the metric")
	}
	return finite(value)
}

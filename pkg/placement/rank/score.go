// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rank

import (
	"math"
)

// Stickiness is what a place gains by being where the application runs now. It stands for the cost
// of moving.
type Stickiness struct {
	// Value counts like the normalised value of a metric; 1 is usual.
	Value float64
	// Weight is its weight beside those of the metrics, 0 or more.
	Weight float64
}

// DefaultStickiness is that of Krake.
var DefaultStickiness = Stickiness{Value: 1, Weight: 0.1}

// stickinessPart is the name of the part of a score that is the stickiness.
const stickinessPart = "stickiness"

// Part is one term of a score: value times weight, in the mean of all.
type Part struct {
	// Name is the name of a metric, or stickinessPart.
	Name string
	// Value is the normalised value.
	Value float64
	// Weight is what it counts.
	Weight float64
}

// score returns the score of a place with these metrics. Without metrics it is the product of value
// and weight of the stickiness, otherwise the weighted mean of all parts, of which the stickiness
// is one. A nil stickiness stands in neither: clouds and projects have none. It is finite if all
// numbers are, and weights are positive. The parts may take the place of the metrics.
func score(metrics []Part, sticky *Stickiness, current bool) (score float64, parts []Part) {
	parts = metrics
	if sticky != nil {
		part := Part{Name: stickinessPart, Weight: sticky.Weight}
		if current {
			part.Value = sticky.Value
		}
		parts = append(parts, part)
		if len(metrics) == 0 {
			return finite(part.Value * part.Weight), parts
		}
	}
	if len(metrics) == 0 {
		return 0, parts
	}
	return mean(parts), parts
}

func mean(parts []Part) float64 {
	sum, weights := sums(parts, 1)
	if math.IsInf(sum, 0) || math.IsInf(weights, 0) {
		// Only the ratios of weights count.
		largest := 0.0
		for _, part := range parts {
			largest = max(largest, part.Weight)
		}
		sum, weights = sums(parts, largest)
	}
	return finite(sum / weights)
}

func sums(parts []Part, unit float64) (sum, weights float64) {
	for _, part := range parts {
		sum += part.Value * (part.Weight / unit)
		weights += part.Weight / unit
	}
	return sum, weights
}

// finite cuts infinities off at the largest numbers there are.
func finite(x float64) float64 {
	return min(math.MaxFloat64, max(-math.MaxFloat64, x))
}

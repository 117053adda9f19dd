// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rank

import (
	"errors"
	"math"
	"slices"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

var (
	// ErrEmptyRange says that the least value of a metric is not below its greatest.
	ErrEmptyRange = errors.New("min is not less than max")

	// errOutOfRange says that a value is not between the least and the greatest of its metric, or
	// not a number.
	errOutOfRange = errors.New("the value is out of range")

	// ErrNotAllowed says that a value is in range but not one of those that its metric lists.
	ErrNotAllowed = errors.New("the value is none of the allowed values")
)

// NormalizeMetric maps a value of a metric to 0..1, by its range, by which values are better, and
// by what becomes of a value out of range.
func NormalizeMetric(value float64, spec *berthv1alpha1.MetricSpec) (float64, error) {
	if spec.OutOfRange == berthv1alpha1.ClampOutOfRange {
		value = min(max(value, spec.Min), spec.Max)
	}
	normalized, err := normalize(value, spec.Min, spec.Max, spec.AllowedValues)
	if err == nil && spec.Direction == berthv1alpha1.LowerIsBetter {
		normalized = 1 - normalized
	}
	return normalized, err
}

// normalize maps a value of a metric to 0..1, least to greatest. Both bounds are allowed values;
// what is outside is an error and never cut off. If values are listed the value must be one of
// them.
func normalize(value, least, greatest float64, allowed []int64) (float64, error) {
	if !(least < greatest) {
		return 0, ErrEmptyRange
	}
	if !(least <= value && value <= greatest) || math.IsInf(value, 0) {
		return 0, errOutOfRange
	}
	if len(allowed) > 0 && !slices.ContainsFunc(allowed, func(a int64) bool { return float64(a) == value }) {
		return 0, ErrNotAllowed
	}
	width := greatest - least
	if math.IsInf(width, 0) {
		// Halves cannot overflow.
		return (value/2 - least/2) / (greatest/2 - least/2), nil
	}
	return (value - least) / width, nil
}

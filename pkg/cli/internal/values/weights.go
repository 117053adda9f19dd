// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"berth.dev/berth/pkg/placement/constraint"
)

const (
	// maxMetrics is how many metrics an object can refer to.
	maxMetrics = 50

	// maxWeight is the largest weight of a metric.
	maxWeight = 1_000_000

	// maxMetricLength bounds a metric and its weight in bytes.
	maxMetricLength = validation.DNS1123SubdomainMaxLength + 64
)

// Weight is a metric and what it counts.
type Weight struct {
	// Metric is the name of the metric. It may have underscores where the object has hyphens.
	Metric string
	// Weight is more than 0 and at most 1000000.
	Weight float64
}

// Weights is a flag that holds a metric and its weight, written "load 0.5" or "load=0.5". The flag
// may be repeated. It is a pflag.Value.
type Weights struct {
	weights []Weight
}

// Values returns the metrics in the order given. The caller must not change it.
func (w *Weights) Values() []Weight { return w.weights }

// Set reads a metric and its weight. An error shows what is wrong; then nothing is added.
func (w *Weights) Set(text string) error {
	if len(text) > maxMetricLength {
		return fmt.Errorf("the name and the weight are longer than %d characters", maxMetricLength)
	}
	name, number, found := cutAny(strings.TrimSpace(text), " =")
	if !found {
		return fmt.Errorf("%s has no weight: write for instance load 0.5", quote(text))
	}
	// A metric of Krake keeps its underscores; Berth finds the object, which has hyphens.
	if len(validation.IsDNS1123Subdomain(strings.ReplaceAll(name, "_", "-"))) > 0 {
		return fmt.Errorf("%s is no name of a metric: use lower case letters, digits, '-', '_' and '.', starting and ending "+
			"with a letter or digit", quote(name))
	}
	weight, err := parseWeight(strings.TrimSpace(number))
	if err != nil {
		return fmt.Errorf("metric %s: %w", quote(name), err)
	}
	if len(w.weights) == maxMetrics {
		return fmt.Errorf("there are more than %d metrics", maxMetrics)
	}
	for _, before := range w.weights {
		if before.Metric == name {
			return fmt.Errorf("metric %s is listed twice", quote(name))
		}
	}
	w.weights = append(w.weights, Weight{Metric: name, Weight: weight})
	return nil
}

// cutAny cuts a text at the first of several characters.
func cutAny(text, characters string) (before, after string, found bool) {
	i := strings.IndexAny(text, characters)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+1:], true
}

func parseWeight(text string) (float64, error) {
	// The grammar of constraints is stricter than that of Go, which takes hexadecimal numbers for
	// instance.
	if _, err := constraint.ParseNumber(text); err == nil {
		weight, err := strconv.ParseFloat(text, 64)
		if err == nil && weight > 0 && weight <= maxWeight && !math.IsInf(weight, 0) {
			return weight, nil
		}
	}
	return 0, fmt.Errorf("the weight must be a number above 0 and at most %d, not %s", maxWeight, quote(text))
}

// String returns the metrics with their weights.
func (w *Weights) String() string {
	parts := make([]string, 0, len(w.weights))
	for _, weight := range w.weights {
		parts = append(parts, weight.Metric+"="+strconv.FormatFloat(weight.Weight, 'g', -1, 64))
	}
	return strings.Join(parts, ",")
}

// Type names the kind of the value in usage texts.
func (w *Weights) Type() string { return "name weight" }

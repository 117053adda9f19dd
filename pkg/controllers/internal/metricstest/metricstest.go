// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package metricstest reads the metrics of the controller manager in tests.
package metricstest

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Series returns the values of a counter or a gauge, or the numbers of observations of a histogram,
// by the values of their labels in the order of the labels' names, such as "UnknownProvider none"
// for {reason="UnknownProvider", type="none"}. Without labels that is the empty string.
func Series(t *testing.T, name string) map[string]float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	series := map[string]float64{}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			labels := make([]string, 0, len(m.GetLabel()))
			for _, label := range m.GetLabel() {
				labels = append(labels, label.GetValue())
			}
			key := strings.Join(labels, " ")
			switch {
			case m.Gauge != nil:
				series[key] = m.Gauge.GetValue()
			case m.Counter != nil:
				series[key] = m.Counter.GetValue()
			default:
				series[key] = float64(m.Histogram.GetSampleCount())
			}
		}
	}
	return series
}

// Value returns one of the Series, which must be there.
func Value(t *testing.T, name, labels string) float64 {
	t.Helper()
	value, found := Series(t, name)[labels]
	if !found {
		t.Fatalf("there is no metric %s with the labels %q", name, labels)
	}
	return value
}

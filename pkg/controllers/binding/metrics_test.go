// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// series returns the values of a metric by the value of its only label, and the number of
// observations of a histogram.
func series(t *testing.T, name string) map[string]float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			label := ""
			if pairs := m.GetLabel(); len(pairs) > 0 {
				label = pairs[0].GetValue()
			}
			switch {
			case m.Gauge != nil:
				values[label] = m.Gauge.GetValue()
			case m.Counter != nil:
				values[label] = m.Counter.GetValue()
			default:
				values[label] = float64(m.Histogram.GetSampleCount())
			}
		}
	}
	return values
}

func TestMetricsOfADrain(t *testing.T) {
	h := newHarness(t, append(clusters(2), readyScheduler("a"))...)
	h.passes(2)
	if diff := cmp.Diff(map[string]float64{"a": 2}, series(t, "berth_binding_clusters")); diff != "" {
		t.Errorf("clusters by scheduler (-want +got):\n%s", diff)
	}
	before, observed := series(t, "berth_binding_steps_total"), series(t, "berth_binding_drain_duration_seconds")[""]

	pinned := h.cluster("c1")
	pinned.Spec.HomeScheduler = "b"
	if err := h.api.Update(t.Context(), pinned); err != nil {
		t.Fatal(err)
	}
	other := h.cluster("c0")
	other.Spec.HomeScheduler = "a"
	if err := h.api.Update(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	h.create(readyScheduler("b"))
	h.passes(1)
	if got := series(t, "berth_binding_draining_clusters")[""]; got != 1 {
		t.Errorf("%v clusters drain, want 1", got)
	}
	h.acknowledge("a")
	h.passes(1)
	if diff := cmp.Diff(map[string]float64{"a": 1, "b": 1}, series(t, "berth_binding_clusters")); diff != "" {
		t.Errorf("clusters by scheduler (-want +got):\n%s", diff)
	}
	after := series(t, "berth_binding_steps_total")
	for step, want := range map[string]float64{"bind": 0, "drain": 1, "cancel": 0, "move": 1, "seize": 0} {
		if got := after[step] - before[step]; got != want {
			t.Errorf("%v steps %s, want %v", got, step, want)
		}
	}
	if got := series(t, "berth_binding_drain_duration_seconds")[""] - observed; got != 1 {
		t.Errorf("%v drains were timed, want 1", got)
	}
	if got := h.cluster("c1").Status.HomeScheduler; got != "b" {
		t.Errorf("c1 is bound to %s, want b; reason %s", got, h.reason("c1"))
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/controllers/internal/metricstest"
)

func TestMetricsOfADrain(t *testing.T) {
	h := newHarness(t, append(clusters(2), readyScheduler("a"))...)
	h.passes(2)
	if diff := cmp.Diff(map[string]float64{"a": 2}, metricstest.Series(t, "berth_binding_clusters")); diff != "" {
		t.Errorf("clusters by scheduler (-want +got):\n%s", diff)
	}
	before, observed := metricstest.Series(t, "berth_binding_steps_total"), metricstest.Series(t, "berth_binding_drain_duration_seconds")[""]

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
	if got := metricstest.Series(t, "berth_binding_draining_clusters")[""]; got != 1 {
		t.Errorf("%v clusters drain, want 1", got)
	}
	h.acknowledge("a")
	h.passes(1)
	if diff := cmp.Diff(map[string]float64{"a": 1, "b": 1}, metricstest.Series(t, "berth_binding_clusters")); diff != "" {
		t.Errorf("clusters by scheduler (-want +got):\n%s", diff)
	}
	after := metricstest.Series(t, "berth_binding_steps_total")
	for step, want := range map[string]float64{"bind": 0, "drain": 1, "cancel": 0, "move": 1, "seize": 0} {
		if got := after[step] - before[step]; got != want {
			t.Errorf("%v steps %s, want %v", got, step, want)
		}
	}
	if got := metricstest.Series(t, "berth_binding_drain_duration_seconds")[""] - observed; got != 1 {
		t.Errorf("%v drains were timed, want 1", got)
	}
	if got := h.cluster("c1").Status.HomeScheduler; got != "b" {
		t.Errorf("c1 is bound to %s, want b; reason %s", got, h.reason("c1"))
	}
}

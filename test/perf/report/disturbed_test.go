// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func drainOf(name string, speed, attempts float64) Drain {
	return Drain{Name: name, Title: name, PodsPerSecond: []float64{speed}, CPUMilliseconds: []float64{1}, Attempts: []float64{attempts}}
}

func TestDisturbedDrainsAreComparedWithThemselvesAndTheDefaultScheduler(t *testing.T) {
	r := &Results{Scale: &Scale{Disturbed: []Disturbed{
		{Name: "none", Title: "nothing", Drains: []Drain{drainOf(stock, 100, 1), drainOf(policyDrain, 200, 1)}},
		{Name: "flaps", Title: "flaps", Drains: []Drain{drainOf(stock, 50, 2), drainOf(policyDrain, 150, 1.5)}},
		{Name: "edits", Title: "edits", Drains: []Drain{drainOf(policyDrain, 100, 1)}},
	}}}
	var told []string
	for _, f := range r.disturbedFigures() {
		if !f.met() {
			told = append(told, "missed: "+f.String())
			continue
		}
		told = append(told, f.String())
	}
	want := []string{"none 1.00 decisions", "flaps 1.50 x", "missed: flaps 1.50 decisions", "edits 1.00 decisions"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
	rows := disturbedTable(r.Scale.Disturbed).rows
	if got := strings.Join(rows[3][:6], " "); len(rows) != 5 || got != "flaps policy 0.75 x 0.75 to 0.75 1.00 x 1.500" {
		t.Errorf("of %d rows the fourth is %q", len(rows), got)
	}
}

func TestADrainIsMadeOnce(t *testing.T) {
	d := &Disturbed{}
	d.Of("a", "A").Pods = 5
	if got := d.Of("a", "A"); got.Pods != 5 || len(d.Drains) != 1 || d.find("b") != nil {
		t.Errorf("%d pods in %d drains", got.Pods, len(d.Drains))
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

func TestRoundAfterAChangeOfWeights(t *testing.T) {
	h := newHarness(t, world(sites(), placed(), these(newPolicy("p")))...)
	h.settle()
	if got := h.evicted(); len(got) != 0 {
		t.Fatalf("%v are evicted although nothing is misplaced", got)
	}
	if got, want := h.condition(berthv1alpha1.PolicyPlaced), "True AsDesired: all replicas run where the policy wants them"; got != want {
		t.Errorf("Placed = %q, want %q", got, want)
	}

	h.changePolicy(reweighed(4, 1))
	h.sync()
	h.pass()
	// Hangzhou keeps the seat 2 of the new order: the pod that holds it stays.
	if diff := cmp.Diff([]string{"web-0", "web-4"}, h.evicted()); diff != "" {
		t.Errorf("evicted pods mismatch (-want +got):\n%s", diff)
	}
	if got, want := h.condition(berthv1alpha1.PolicyPlaced), "False Rebalancing: moving replicas; outside their share: 2"; got != want {
		t.Errorf("Placed = %q, want %q", got, want)
	}
	if diff := cmp.Diff([]string{"Normal Rebalancing Moving pods of Deployment web: 2 from hangzhou to beijing"}, h.events()); diff != "" {
		t.Errorf("events mismatch (-want +got):\n%s", diff)
	}

	h.replace("new-0", "beijing-0", 0)
	h.replace("new-1", "beijing-0", 4)
	h.wait(time.Minute)
	h.settle()
	if got := h.evicted(); len(got) != 0 {
		t.Errorf("%v are evicted although nothing is misplaced any more", got)
	}
	if got, want := h.condition(berthv1alpha1.PolicyPlaced), "True AsDesired: all replicas run where the policy wants them"; got != want {
		t.Errorf("Placed = %q, want %q", got, want)
	}
}

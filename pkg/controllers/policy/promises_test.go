// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"berth.dev/berth/pkg/simulator"
)

// room returns how many pods of others fit into a Cluster, beside what is promised.
func (h *harness) room(cluster string) (copies int) {
	h.t.Helper()
	if err := h.Adviser.Ask(h.t.Context(), nil, func(s *simulator.Snapshot) error {
		found, err := s.Room(h.t.Context(), cluster, webPod("other", "", 0), 100)
		copies = found.Copies
		return err
	}); err != nil {
		h.t.Fatal(err)
	}
	return copies
}

// twoEvicted returns a harness in which two pods have been evicted from hangzhou, whose
// replacements are to come to beijing.
func twoEvicted(t *testing.T) *harness {
	t.Helper()
	h := newHarness(t, world(sites(), placed(), these(newPolicy("p")))...)
	h.settle()
	h.changePolicy(reweighed(4, 1))
	h.sync()
	h.pass()
	if got := len(h.evicted()); got != 2 {
		t.Fatalf("%d pods are evicted, want 2", got)
	}
	return h
}

// The room that was found for the replacements of evicted pods is offered to nobody else until they
// have come, or nobody is to be expected any more.
func TestRoomForReplacementsIsPromised(t *testing.T) {
	tests := map[string]struct {
		happens  func(h *harness)
		after    time.Duration
		wantRoom int // of 16 CPUs, of which 2 are in use
	}{
		"until they come": {func(*harness) {}, time.Minute, 12},
		"one has come":    {func(h *harness) { h.replace("new-0", "beijing-0", 0) }, time.Minute, 12},
		"both have come": {func(h *harness) {
			h.replace("new-0", "beijing-0", 0)
			h.replace("new-1", "beijing-0", 4)
		}, time.Minute, 12},
		"somebody else has come": {func(h *harness) { h.replace("new-0", "hangzhou-0", 1) }, time.Minute, 12},
		"nobody makes them":      {func(*harness) {}, 6 * time.Minute, 14},
		"the workload wants fewer": {func(h *harness) {
			change(h, newDeployment(5), func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(3)) })
		}, time.Minute, 14},
		"the workload is gone": {func(h *harness) {
			if err := h.server.Delete(h.t.Context(), newDeployment(5)); err != nil {
				h.t.Fatal(err)
			}
		}, time.Minute, 14},
		"the policy is gone": {func(h *harness) {
			if err := h.server.Delete(h.t.Context(), newPolicy("p")); err != nil {
				h.t.Fatal(err)
			}
		}, time.Minute, 14},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := twoEvicted(t)
			if got := h.room("beijing"); got != 12 {
				t.Fatalf("there is room for %d others after the evictions, want 12", got)
			}
			tc.happens(h)
			h.sync()
			h.pass()
			h.wait(tc.after)
			h.settle()
			h.pass() // The adviser is a new one.
			if got := h.room("beijing"); got != tc.wantRoom {
				t.Errorf("there is room for %d others, want %d", got, tc.wantRoom)
			}
		})
	}
}

// passAsAskedFor makes the passes that the last one asks for, and those alone.
func (h *harness) passAsAskedFor() {
	h.t.Helper()
	for range 20 {
		h.sync()
		h.pass()
		if h.last.RequeueAfter == 0 {
			return
		}
		h.wait(h.last.RequeueAfter)
	}
	h.t.Fatalf("every pass asks for another one, the last one in %v", h.last.RequeueAfter)
}

// Nothing happens when nobody makes the replacements: what ends the promise is time alone.
func TestPromisedRoomIsGivenBackWhenItsTimeIsUp(t *testing.T) {
	h := twoEvicted(t)
	h.passAsAskedFor()
	if got := h.room("beijing"); got != 14 {
		t.Fatalf("there is room for %d others when no replacement has come, want 14", got)
	}

	// How the promise ended says nothing of the next one.
	h.replace("new-0", "beijing-0", 0)
	h.replace("new-1", "beijing-0", 4)
	h.settle()
	h.changePolicy(reweighed(1, 4))
	h.wait(time.Minute)
	h.sync()
	h.pass()
	if got := len(h.evicted()); got != 3 {
		t.Fatalf("%d pods are evicted in the next round, want 3", got)
	}
	h.sync()
	h.pass()
	if got := h.room("hangzhou"); got != 12 {
		t.Errorf("there is room for %d others in the next round, want 12", got)
	}
}

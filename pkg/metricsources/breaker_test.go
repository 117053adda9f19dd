// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package metricsources_test

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"berth.dev/berth/pkg/metricsources"
)

func TestBreaker(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(1_000_000, 0))
	breaker := metricsources.NewBreaker(clock, time.Minute, 4*time.Minute)
	outage := &metricsources.Error{Reason: "Timeout", Provider: true}
	wrong := &metricsources.Error{Reason: "NoValue"}
	for i := range 3 {
		if breaker.Open() != nil {
			t.Fatalf("it is open after %d failures", i)
		}
		breaker.Done(outage)
	}
	for _, pause := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 4 * time.Minute} {
		clock.SetTime(clock.Now().Add(pause - time.Second))
		if breaker.Open() != outage {
			t.Fatalf("it closes before %v are over", pause)
		}
		clock.SetTime(clock.Now().Add(time.Second))
		if breaker.Open() != nil {
			t.Fatalf("it stays open after %v", pause)
		}
		breaker.Done(outage)
	}
	clock.SetTime(clock.Now().Add(4 * time.Minute))
	breaker.Done(wrong)
	breaker.Done(outage)
	if breaker.Open() != nil {
		t.Error("an answer about a wrong metric is no sign that the provider works again")
	}
}

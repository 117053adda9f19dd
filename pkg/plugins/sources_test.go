// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package plugins_test

import (
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"

	"berth.dev/berth/pkg/plugins"
)

// What a simulated scheduler puts off would run beside its decisions.
func TestOfflinePutsNothingOff(t *testing.T) {
	clk := testingclock.NewFakeClock(time.Now())
	o := plugins.NewOffline(clk)
	o.Clock.AfterFunc(time.Second, func() { t.Error("something happens later") })
	clk.Step(time.Minute)
	if clk.HasWaiters() {
		t.Error("a timer is left")
	}
}

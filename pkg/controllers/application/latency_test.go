// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application_test

import (
	"testing"
	"time"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/application"
)

// Whenever between two reviews a metric changes, what follows is decided within one interval and a
// second, and not by every change at once.
func TestAChangedMetricIsDecidedAboutWithinOneInterval(t *testing.T) {
	const every = time.Minute
	var room application.Adviser
	first, last := every, time.Duration(0)
	for offset := time.Duration(0); offset < every; offset += 7 * time.Second {
		c := newCrossing(t, room, func(*berthv1alpha1.ApplicationSpec) {})
		room = c.room
		c.run(offset)
		changed := c.clock.Now()
		c.change("madrid", func(in *berthv1alpha1.Cluster) { sample(in, 1) })
		if !c.until(2*every, func() bool { return c.app.stored().Status.ScheduledTo == "madrid" }) {
			t.Fatalf("nothing is decided in %v", 2*every)
		}
		took := c.clock.Now().Sub(changed)
		if took > every+time.Second {
			t.Errorf("%v after the last review it takes %v, want at most %v and a second", offset, took, every)
		}
		first, last = min(first, took), max(last, took)
	}
	if last-first < every/2 {
		t.Errorf("it takes %v to %v whenever that is, so it is not decided at even distances", first, last)
	}
}

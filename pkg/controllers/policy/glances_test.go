// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package policy_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// What is done, and told, is the same with glances as with passes over the whole namespace.
func TestGlancesLeaveNothingOut(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		with, without := atRest(t), atRest(t)
		for step := range rapid.IntRange(1, 3).Draw(rt, "steps") {
			do := rapid.SampledFrom(slices.Sorted(maps.Keys(steps))).Draw(rt, fmt.Sprint("step ", step))
			on := rapid.IntRange(0, 4).Draw(rt, fmt.Sprint("pod of step ", step))
			for _, h := range []*harness{with, without} {
				h.wait(time.Second)
				steps[do](h, on)
				if h == without {
					h.Changed(namespace)
				}
				h.pass()
			}
			if diff := cmp.Diff(without.told(), with.told()); diff != "" {
				rt.Fatalf("after %q of pod %d (-whole +glances):\n%s", do, on, diff)
			}
		}
	})
}

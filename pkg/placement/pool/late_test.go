// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/pool"
)

func TestWithheld(t *testing.T) {
	for name, tc := range map[string]struct{ free, claimed, want int64 }{
		"nothing was free":            {free: 0, claimed: 9, want: 0},
		"more was held than there is": {free: -3, claimed: 9, want: 0},
		"nobody waited":               {free: 5, claimed: 0, want: 0},
		"less is asked for":           {free: 5, claimed: 2, want: 2},
		"more is asked for":           {free: 5, claimed: 9, want: 5},
		"nobody knows how much":       {free: pool.Uncountable, claimed: 9, want: 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := pool.Withheld(tc.free, tc.claimed); got != tc.want {
				t.Errorf("%d of %d free, want %d", got, tc.free, tc.want)
			}
		})
	}
}

// succession is a pool whose scheduler has been replaced.
type succession struct {
	capacity int64
	// heldBefore is what was held at the take-over, and held what is now.
	heldBefore, held int64
	// open are the pods to which a late Binding may happen, by what they ask for. Of these, sent are
	// those for which one is on its way.
	open map[int]int64
	sent map[int]bool
}

func (s *succession) claimed() (sum int64) {
	for _, units := range s.open {
		sum += units
	}
	return sum
}

func (s *succession) left() int64 {
	return s.capacity - s.held - pool.Withheld(s.capacity-s.heldBefore, s.claimed())
}

// TestNothingIsGivenOutThatALateBindingMayTake lets Bindings of a predecessor, which it had units
// for, arrive at any time after the take-over, or never.
func TestNothingIsGivenOutThatALateBindingMayTake(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &succession{capacity: rapid.Int64Range(1, 8).Draw(t, "capacity"), open: map[int]int64{}, sent: map[int]bool{}}
		s.heldBefore = rapid.Int64Range(0, s.capacity).Draw(t, "held")
		s.held = s.heldBefore
		left := s.capacity - s.held
		for i := range rapid.IntRange(0, 8).Draw(t, "pods") {
			s.open[i] = rapid.Int64Range(1, 3).Draw(t, "units")
			if s.open[i] <= left && rapid.Bool().Draw(t, "sent") {
				s.sent[i], left = true, left-s.open[i]
			}
		}
		some := func(t *rapid.T) int {
			if len(s.open) == 0 {
				t.Skip("no pod")
			}
			return rapid.SampledFrom(slices.Sorted(maps.Keys(s.open))).Draw(t, "pod")
		}
		t.Repeat(map[string]func(*rapid.T){
			"a late Binding arrives": func(t *rapid.T) {
				if i := some(t); s.sent[i] {
					s.held += s.open[i]
					delete(s.open, i)
				}
			},
			"a pod that waited is given what it asks for": func(t *rapid.T) {
				i := some(t)
				units := s.open[i]
				if s.open[i] = 0; units <= s.left() {
					s.held += units
					delete(s.open, i) // by this Binding or by a late one: they exclude each other
				} else {
					s.open[i] = units
				}
			},
			"a pod is changed": func(t *rapid.T) { delete(s.open, some(t)) },
			"a pod ends":       func(*rapid.T) { s.held = max(0, s.held-1) },
			"units are given out": func(t *rapid.T) {
				if units := rapid.Int64Range(1, 3).Draw(t, "units"); units <= s.left() {
					s.held += units
				}
			},
			"": func(t *rapid.T) {
				if s.held > s.capacity {
					t.Fatalf("%d of %d units are held", s.held, s.capacity)
				}
				if len(s.open) == 0 && s.left() != s.capacity-s.held {
					t.Fatalf("%d units are withheld for nobody", s.capacity-s.held-s.left())
				}
			},
		})
	})
}

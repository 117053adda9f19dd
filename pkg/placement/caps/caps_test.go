// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package caps_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/caps"
)

const giveUp = 30 * time.Second

var start = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// step is what is observed some time after the start.
type step struct {
	at           time.Duration
	share, bound int64
	// waiting is since when a pod has been waiting, after the start; below 0 for none.
	waiting  time.Duration
	expected bool
	room     int64
}

func (s *step) observation() *caps.Observation {
	o := &caps.Observation{
		Now: start.Add(s.at), Share: s.share, Bound: s.bound, Expected: s.expected, Room: s.room, LimitedBy: "why", GiveUpAfter: giveUp,
	}
	if s.waiting >= 0 {
		o.Waiting = start.Add(s.waiting)
	}
	return o
}

func TestNext(t *testing.T) {
	stuck := func(at time.Duration) step { return step{at: at, share: 3, bound: 1, room: 2} }
	capped := func(at time.Duration) step { return step{at: at, share: 1, bound: 1, room: 2} }
	tests := map[string]struct {
		steps     []step
		want      bool
		wantRetry time.Duration
	}{
		"all have a node":     {steps: []step{{at: 0, share: 1, bound: 1}, {at: time.Hour, share: 1, bound: 1}}},
		"short for a moment":  {steps: []step{stuck(0), stuck(29 * time.Second)}},
		"short for long":      {[]step{stuck(0), stuck(giveUp)}, true, 60 * time.Second},
		"no pod waits":        {steps: []step{{at: 0, share: 3, waiting: -1}, {at: time.Hour, share: 3, waiting: -1}}},
		"a share that is new": {steps: []step{{at: time.Hour, share: 3, bound: 1}}},
		"a pod that is new":   {steps: []step{stuck(0), {at: giveUp, share: 3, bound: 1, waiting: time.Second}}},
		"short, and not for a moment": {
			steps: []step{stuck(0), {at: 10 * time.Second, share: 1, bound: 1}, stuck(20 * time.Second), stuck(giveUp)},
		},
		"progress":                      {steps: []step{stuck(0), {at: 20 * time.Second, share: 3, bound: 2}, {at: giveUp, share: 3, bound: 2}}},
		"a node is being made":          {steps: []step{stuck(0), {at: time.Hour, share: 3, bound: 1, expected: true}}},
		"and is not made after all":     {[]step{stuck(0), {at: giveUp, share: 3, bound: 1, expected: true}, stuck(40 * time.Second)}, true, 70 * time.Second},
		"a cap stays":                   {[]step{stuck(0), stuck(giveUp), capped(59 * time.Second)}, true, 60 * time.Second},
		"a cap ends by time":            {steps: []step{stuck(0), stuck(giveUp), capped(60 * time.Second)}},
		"a cap ends when there is room": {steps: []step{stuck(0), stuck(giveUp), {at: 31 * time.Second, share: 1, bound: 1, room: 3}}},
		"also when there was less": {steps: []step{
			stuck(0), stuck(giveUp), {at: 31 * time.Second, share: 1, bound: 1, room: 0}, {at: 32 * time.Second, share: 1, bound: 1, room: 1},
		}},
		"the next one lasts twice as long": {
			[]step{stuck(0), stuck(giveUp), capped(60 * time.Second), stuck(61 * time.Second), stuck(91 * time.Second)}, true, 151 * time.Second,
		},
		"but not after progress": {
			[]step{
				stuck(0), stuck(giveUp), capped(60 * time.Second), {at: 61 * time.Second, share: 3, bound: 2},
				{at: 62 * time.Second, share: 3, bound: 2}, {at: 92 * time.Second, share: 3, bound: 2},
			}, true, 122 * time.Second,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var state caps.State
			for _, s := range tc.steps {
				state = state.Next(s.observation())
			}
			if state.Capped != tc.want {
				t.Fatalf("capped: %t, want %t", state.Capped, tc.want)
			}
			if tc.want && (state.LimitedBy != "why" || !state.Retry.Equal(start.Add(tc.wantRetry))) {
				t.Errorf("limited by %q until %v, want until %v", state.LimitedBy, state.Retry.Sub(start), tc.wantRetry)
			}
		})
	}
}

// TestCapsEnd holds caps to their bounds, whatever is observed in whatever order.
func TestCapsEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var state caps.State
		at := time.Duration(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			at += time.Duration(rapid.IntRange(0, 400).Draw(t, "seconds")) * time.Second
			s := step{
				at: at, share: int64(rapid.IntRange(0, 4).Draw(t, "share")), bound: int64(rapid.IntRange(0, 4).Draw(t, "bound")),
				waiting:  at - time.Duration(rapid.IntRange(-1, 300).Draw(t, "waiting"))*time.Second,
				expected: rapid.Bool().Draw(t, "expected"), room: int64(rapid.IntRange(0, 4).Draw(t, "room")),
			}
			o := s.observation()
			before := state
			due := before.Due(o)
			state = before.Next(o)
			isDue := !due.IsZero() && !o.Now.Before(due)
			if what := violation(before, state, s, o.Now, isDue); what != "" {
				t.Fatal(what)
			}
		}
	})
}

// violation names a bound that a step has not kept, empty if there is none.
func violation(before, state caps.State, s step, now time.Time, isDue bool) string {
	begins := state.Capped && !before.Capped
	switch {
	case state.Capped && state.Retry.Sub(now) > caps.LongestPause:
		return "a cap is to last too long"
	case state.Capped && !now.Before(state.Retry):
		return "a cap has not ended with its time"
	case begins && (s.expected || !isDue):
		return "a cap begins too early"
	}
	return missed(before, state, s, isDue)
}

func missed(before, state caps.State, s step, isDue bool) string {
	switch {
	case before.Capped && state.Capped && s.room > before.Room:
		return "a cap outlives that there is more room"
	case !before.Capped && !state.Capped && isDue && !s.expected:
		return "a cap that is due does not begin"
	}
	return ""
}

func TestACapThatGrows(t *testing.T) {
	at := func(after time.Duration, bound, room int64) *caps.Observation {
		s := step{at: after, share: 5, bound: bound, room: room}
		o := s.observation()
		o.Grows = true
		return o
	}
	var state caps.State
	steps := []struct {
		o     *caps.Observation
		limit int64 // -1 for no cap
	}{
		{at(0, 3, 0), -1},
		{at(giveUp, 3, 0), 3},
		{at(giveUp+time.Second, 3, 1), 4},
		{at(giveUp+2*time.Second, 4, 0), 4},
		{at(time.Hour, 4, 0), 4},               // in vain as long as it is full
		{at(time.Hour+2*time.Minute, 4, 2), 6}, // its time is over, and it grows
	}
	for i, s := range steps {
		state = state.Next(s.o)
		limit := int64(-1)
		if state.Capped {
			limit = state.Limit(s.o)
		}
		if limit != s.limit {
			t.Errorf("step %d: limit %d, want %d", i, limit, s.limit)
		}
	}
}

// TestACapThatGrowsEnds has a cap that began with room for one. More room lets it grow, and puts
// its end off; it ends by time where there is as much as when it began.
func TestACapThatGrowsEnds(t *testing.T) {
	var state caps.State
	for i, s := range []struct {
		at        time.Duration
		room      int64
		wantLimit int64 // -1 for no cap
	}{
		{0, 1, -1},
		{giveUp, 1, 3},
		{61 * time.Second, 2, 4},
		{62 * time.Second, 1, 3},
		{90 * time.Second, 1, 3},
		{91 * time.Second, 1, -1},
	} {
		observed := step{at: s.at, share: 5, bound: 3, room: s.room}
		o := observed.observation()
		o.Grows = true
		limit := int64(-1)
		if state = state.Next(o); state.Capped {
			limit = state.Limit(o)
		}
		if limit != s.wantLimit {
			t.Errorf("step %d: limit %d, want %d", i, limit, s.wantLimit)
		}
	}
}

func TestAReplicaThatGetsANodeEndsThePauses(t *testing.T) {
	state := caps.State{Pause: time.Minute, Bound: 1}
	for bound, want := range map[int64]time.Duration{0: time.Minute, 1: time.Minute, 2: 0} {
		s := step{at: time.Hour, share: bound, bound: bound}
		if got := state.Next(s.observation()).Pause; got != want {
			t.Errorf("with %d replicas on nodes the last pause is %v, want %v", bound, got, want)
		}
	}
}

func TestOldest(t *testing.T) {
	times := []time.Time{start.Add(time.Minute), start}
	tests := map[string]struct {
		waiting []time.Time
		short   int
		missing int64
		want    time.Time
	}{
		"nobody waits":                 {short: 1, missing: 2},
		"one cluster is short":         {times, 1, 5, start},
		"several, and as many wait":    {times, 2, 2, start},
		"several, and too few wait":    {times, 2, 3, time.Time{}},
		"more wait than clusters miss": {times, 2, 1, start},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := caps.Oldest(tc.waiting, tc.short, tc.missing); !got.Equal(tc.want) {
				t.Errorf("since %v, want %v", got, tc.want)
			}
		})
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package promise_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/promise"
)

var begin = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestHowLongRoomIsKept(t *testing.T) {
	type seen struct {
		after         time.Duration
		made, missing int64
	}
	tests := map[string]struct {
		seen    []seen
		wantEnd time.Duration // 0 for never
	}{
		"all have a pod":                      {[]seen{{0, 3, 0}}, 0},
		"nobody makes pods":                   {[]seen{{0, 0, 3}, {time.Minute, 0, 3}}, 5 * time.Minute},
		"pods are made, slowly":               {[]seen{{0, 0, 3}, {4 * time.Minute, 1, 2}, {7 * time.Minute, 2, 1}}, 12 * time.Minute},
		"the last one is made":                {[]seen{{0, 0, 1}, {4 * time.Minute, 1, 0}}, 0},
		"a pod goes":                          {[]seen{{0, 2, 1}, {time.Minute, 1, 2}}, 5 * time.Minute},
		"a pod goes and is made again":        {[]seen{{0, 2, 1}, {time.Minute, 1, 2}, {2 * time.Minute, 2, 1}}, 7 * time.Minute},
		"more are wanted, and still not made": {[]seen{{0, 2, 1}, {time.Minute, 2, 5}}, 5 * time.Minute},
		"made once it was over":               {[]seen{{0, 0, 2}, {time.Hour, 1, 1}}, time.Hour + 5*time.Minute},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var s promise.State
			for _, o := range tc.seen {
				s = s.Next(begin.Add(o.after), promise.DefaultLife, o.made, o.missing)
			}
			if tc.wantEnd == 0 {
				if s.Over(begin.Add(1000 * time.Hour)) {
					t.Errorf("it is over, want it to last; state %+v", s)
				}
				return
			}
			if end := begin.Add(tc.wantEnd); s.Over(end.Add(-1)) || !s.Over(end) {
				t.Errorf("it ends after %v, want %v", s.Expires.Sub(begin), tc.wantEnd)
			}
		})
	}
}

func TestItIsOverOnlyIfNoPodWasMadeForALife(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now, lastMade, made := begin, begin, int64(0)
		var s promise.State
		for range rapid.IntRange(1, 30).Draw(t, "observations") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(promise.DefaultLife)).Draw(t, "later")))
			before := made
			made = max(0, made+rapid.Int64Range(-2, 2).Draw(t, "more"))
			missing := max(0, 5-made)
			if made > before || missing == 0 {
				lastMade = now
			}
			s = s.Next(now, promise.DefaultLife, made, missing)
			if s.Over(now) && now.Sub(lastMade) < promise.DefaultLife {
				t.Fatalf("it is over %v after a pod was made", now.Sub(lastMade))
			}
			if missing > 0 && now.Sub(lastMade) >= 2*promise.DefaultLife && !s.Over(now) {
				t.Fatalf("it is not over %v after the last pod was made", now.Sub(lastMade))
			}
		}
	})
}

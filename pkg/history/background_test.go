// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package history_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"berth.dev/berth/pkg/history"
)

func TestEntriesAreCompletedUnlessTheyRepeat(t *testing.T) {
	type noted struct{ pod, key, message string }
	long := strings.Repeat("1", 5000)
	for name, test := range map[string]struct {
		notes         []noted
		want          []string
		wantCompleted int
	}{
		"the same key": {
			notes: []noted{{"a", "1", "x"}, {"a", "1", "y"}, {"a", "1", "z"}}, want: []string{"a x x3"}, wantCompleted: 1,
		},
		"the same long key": {
			notes: []noted{{"a", long, "x"}, {"a", long, "y"}}, want: []string{"a x x2"}, wantCompleted: 1,
		},
		"another key": {
			notes: []noted{{"a", "1", "x"}, {"a", "2", "x"}, {"a", "1", "x"}}, want: []string{"a x x1", "a x x1", "a x x1"}, wantCompleted: 3,
		},
		"the key of another pod": {
			notes: []noted{{"a", "1", "x"}, {"b", "1", "y"}}, want: []string{"a x x1", "b y x1"}, wantCompleted: 2,
		},
		"no key": {
			notes: []noted{{"a", "", "x"}, {"a", "", "x"}, {"a", "", "y"}}, want: []string{"a x x2", "a y x1"}, wantCompleted: 3,
		},
	} {
		t.Run(name, func(t *testing.T) {
			ring := history.New(history.DefaultLimits(), clocktesting.NewFakePassiveClock(start))
			background := history.NewBackground(ring)
			completed := 0
			for _, n := range test.notes {
				background.NoteKeyed(func() history.Entry {
					e := waits(n.pod, "")
					e.Key = n.key
					return e
				}, func(e *history.Entry) {
					e.Message = n.message
					completed++
				})
			}
			ctx, cancel := context.WithCancel(t.Context())
			background.Note(func() history.Entry {
				cancel() // all before it are made
				return history.Entry{About: pod("last")}
			})
			background.Run(ctx)
			deployment := *waits("a", "").Workload
			if diff := cmp.Diff(test.want, messages(ring.Find(deployment, all).Entries)); diff != "" {
				t.Errorf("remembered (-want +got):\n%s", diff)
			}
			if completed != test.wantCompleted {
				t.Errorf("%d entries were completed, want %d", completed, test.wantCompleted)
			}
		})
	}
}

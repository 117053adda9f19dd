// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/placement/bundle"
	"berth.dev/berth/pkg/placement/divide"
)

// stalled says that nobody makes so many of the pods of the first feed.
func stalled(n int64) func(*bundle.Subscription) {
	return feed(func(f *bundle.Feed) { f.Stalled = n })
}

func TestNoRoomIsKeptForPodsThatNobodyMakes(t *testing.T) {
	ab := clusters("a", "b")
	halves := recorded(replicas{"a": 3, "b": 3})
	tests := map[string]decision{
		"none is made": {
			replicas{"a": 3, "b": 3},
			[]bundle.Subscription{with(spread(ab, 6), halves, stalled(6)), spread(ab, 4)}, []string{"-6", "a=2 b=2"},
		},
		"what runs stays, wherever it is": {
			replicas{"a": 3, "b": 1},
			[]bundle.Subscription{with(spread(ab, 6), halves, bound(replicas{"b": 2}), stalled(4)), spread(ab, 4)}, []string{"b=2 -4", "a=3 b=1"},
		},
		"what has a pod, but no node yet": {
			replicas{"a": 3, "b": 1},
			[]bundle.Subscription{with(spread(ab, 6), halves, bound(replicas{"b": 2}), stalled(3)), spread(ab, 4)}, []string{"a=1 b=2 -3", "a=2 b=1 -1"},
		},
		"it gets room again once pods are made": {
			replicas{"a": 3, "b": 2},
			[]bundle.Subscription{with(spread(ab, 6), recorded(replicas{"b": 1}), bound(replicas{"b": 1}))}, []string{"a=3 b=3"},
		},
		"in a Cluster that takes no more": {
			replicas{"b": 4},
			[]bundle.Subscription{with(spread(clusters("xa", "b"), 6), halves, bound(replicas{"a": 2}), stalled(4)), spread(ab, 4)},
			[]string{"a=2 -4", "b=4"},
		},
		"a bundle waits for its pods": {
			replicas{"a": 9}, []bundle.Subscription{with(spread(ab, 6), bundled, stalled(2))}, []string{"Waits: -6"},
		},
		"a bundle that runs keeps what runs": {
			replicas{"a": 3, "b": 3},
			[]bundle.Subscription{with(spread(ab, 6), pledged, halves, bound(replicas{"b": 2}), stalled(4)), spread(ab, 4)},
			[]string{"Kept: b=2 -4", "a=2 b=2"},
		},
		"a bundle by weight that runs": {
			replicas{"a": 2, "b": 2},
			[]bundle.Subscription{
				with(spread(ab, 6), pledged, strategy(divide.Static), halves, bound(replicas{"b": 2}), stalled(3)), spread(ab, 4),
			},
			[]string{"Kept: a=3 b=3", "a=2 b=1 -1"},
		},
	}
	for name, tc := range tests {
		t.Run(name, tc.check)
	}
}

func TestAnAdmissionOfNothingAdmitsNothing(t *testing.T) {
	ab := clusters("a", "b")
	for name, tc := range map[string]struct {
		wanted, free int64
		want         string
	}{
		"while nothing is wanted": {0, 0, "Kept: "},
		"when all of it fits":     {6, 3, "Granted: a=3 b=3"},
		"when only part of it":    {6, 2, "Waits: -6"},
	} {
		t.Run(name, func(t *testing.T) {
			results, err := bundle.Decide([]bundle.Subscription{with(spread(ab, tc.wanted), pledged)}, &cpus{free: replicas{"a": tc.free, "b": tc.free}})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, text(&results[0])); diff != "" {
				t.Errorf("division (-want +got):\n%s", diff)
			}
		})
	}
}

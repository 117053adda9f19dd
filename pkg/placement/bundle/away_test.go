// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/placement/bundle"
	"berth.dev/berth/pkg/placement/divide"
)

// TestAdmittedBundlesWaitForNodesThatAreAway has bundles of which some nodes are away.
func TestAdmittedBundlesWaitForNodesThatAreAway(t *testing.T) {
	ab := clusters("a", "b")
	half := []func(*bundle.Subscription){pledged, recorded(replicas{"a": 2, "b": 2}), bound(replicas{"a": 2})}
	tests := map[string]struct {
		free, away    replicas
		subscriptions []bundle.Subscription
		want          []string
		wantAway      replicas
	}{
		"what fits nowhere else stays": {
			replicas{}, replicas{"b": 3}, []bundle.Subscription{with(spread(ab, 4), half...)}, []string{"Kept: a=2 b=2 ~2"}, replicas{"b": 1},
		},
		"what fits elsewhere moves": {
			replicas{"a": 1}, replicas{"b": 3}, []bundle.Subscription{with(spread(ab, 4), half...)}, []string{"Kept: a=3 b=1 ~1"}, replicas{"b": 2},
		},
		"all of it moves": {
			replicas{"a": 5}, replicas{"b": 3}, []bundle.Subscription{with(spread(ab, 4), half...)}, []string{"Kept: a=4"}, replicas{"b": 3},
		},
		"nodes that are gone for good hold nothing": {
			replicas{}, replicas{}, []bundle.Subscription{with(spread(ab, 4), half...)}, []string{"Kept: a=2 -2"}, replicas{},
		},
		"two of them": {
			replicas{}, replicas{"b": 3}, []bundle.Subscription{with(spread(ab, 4), half...), with(spread(ab, 4), half...)},
			[]string{"Kept: a=2 b=2 ~2", "Kept: a=2 b=1 -1 ~1"}, replicas{"b": 0},
		},
		"one that is admitted does not": {
			replicas{"a": 4}, replicas{"b": 3}, []bundle.Subscription{with(spread(ab, 4), bundled)}, []string{"Granted: a=4"}, replicas{"b": 3},
		},
		"what is no bundle does not": {
			replicas{}, replicas{"b": 3}, []bundle.Subscription{with(spread(ab, 4), half[1:]...)}, []string{"a=2 -2"}, replicas{"b": 3},
		},
		"in a cluster that is not selected any more": {
			replicas{}, replicas{"b": 3}, []bundle.Subscription{with(spread(clusters("a"), 4), half...)}, []string{"Kept: a=2 -2"}, replicas{"b": 3},
		},
		"by weight": {
			replicas{}, replicas{"b": 3}, []bundle.Subscription{with(spread(ab, 4), append(half, strategy(divide.Static))...)},
			[]string{"Kept: a=2 b=2 ~2"}, replicas{"b": 1},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			room := &cpus{free: tc.free, away: tc.away}
			results, err := bundle.Decide(tc.subscriptions, room)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]string, len(results))
			for i := range results {
				got[i] = text(&results[i])
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("divisions (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantAway, room.away); diff != "" {
				t.Errorf("CPUs left of nodes that are away (-want +got):\n%s", diff)
			}
		})
	}
}

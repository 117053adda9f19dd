// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/placement/bundle"
	"berth.dev/berth/pkg/placement/divide"
)

func TestReplication(t *testing.T) {
	tests := map[string]struct {
		feed     bundle.Feed
		clusters []string // c, b and a unless others are named
		want     bundle.FeedDivision
	}{
		"the first cluster has the object": {
			feed: bundle.Feed{Wanted: new(int64(2)), Copyable: true},
			want: bundle.FeedDivision{Home: "a", Copies: []string{"b", "c"}, Copied: 4, Shares: replicas{"a": 2, "b": 2, "c": 2}},
		},
		"it stays where it is": {
			feed: bundle.Feed{Wanted: new(int64(2)), Copyable: true, Home: "b"},
			want: bundle.FeedDivision{Home: "b", Copies: []string{"a", "c"}, Copied: 4, Shares: replicas{"a": 2, "b": 2, "c": 2}},
		},
		"it leaves a cluster that has gone": {
			feed: bundle.Feed{Wanted: new(int64(2)), Copyable: true, Home: "z"},
			want: bundle.FeedDivision{Home: "a", Copies: []string{"b", "c"}, Copied: 4, Shares: replicas{"a": 2, "b": 2, "c": 2}},
		},
		"a copy that somebody has scaled": {
			feed: bundle.Feed{Wanted: new(int64(2)), Copyable: true, Copies: replicas{"b": 5, "c": 0}},
			want: bundle.FeedDivision{Home: "a", Copies: []string{"b", "c"}, Copied: 5, Shares: replicas{"a": 2, "b": 5, "c": 0}},
		},
		"a kind that is not copied": {
			feed: bundle.Feed{Wanted: new(int64(2))}, want: bundle.FeedDivision{Home: "a", Shares: replicas{"a": 2}, NotCopied: true},
		},
		"no replicas, but pods":                  {feed: bundle.Feed{HasPods: true}, want: bundle.FeedDivision{NotCopied: true}},
		"no replicas, but pods, in two clusters": {feed: bundle.Feed{HasPods: true}, clusters: []string{"b", "a"}, want: bundle.FeedDivision{NotCopied: true}},
		"no replicas, but pods, in one cluster":  {feed: bundle.Feed{HasPods: true}, clusters: []string{"a"}},
		"no replicas":                            {feed: bundle.Feed{Recorded: replicas{"a": 1}}, want: bundle.FeedDivision{Shares: replicas{"a": 1}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			selected := clusters("c", "b", "a")
			if tc.clusters != nil {
				selected = clusters(tc.clusters...)
			}
			s := bundle.Subscription{Strategy: divide.Replication, Clusters: selected, Feeds: []bundle.Feed{tc.feed}}
			results, err := bundle.Decide([]bundle.Subscription{s}, &cpus{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, results[0].Feeds[0]); diff != "" {
				t.Errorf("division (-want +got):\n%s", diff)
			}
		})
	}
}

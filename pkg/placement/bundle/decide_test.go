// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/bundle"
	"berth.dev/berth/pkg/placement/divide"
)

func TestDecide(t *testing.T) {
	ab := clusters("a", "b")
	tests := map[string]decision{
		"room is shared in proportion": {
			replicas{"a": 6, "b": 3}, []bundle.Subscription{spread(ab, 6)}, []string{"a=4 b=2"},
		},
		"what runs beyond the record needs no room": {
			replicas{}, []bundle.Subscription{
				with(spread(ab, 9), recorded(replicas{"a": 3, "b": 4}), bound(replicas{"a": 3, "b": 6})),
			}, []string{"a=3 b=6"},
		},
		"what finds no room is counted": {
			replicas{"a": 2, "b": 1}, []bundle.Subscription{spread(ab, 5)}, []string{"a=2 b=1 -2"},
		},
		"feeds take room from each other": {
			replicas{"a": 4}, []bundle.Subscription{spread(ab, 3, 3)}, []string{"a=3, a=1 -2"},
		},
		"the first Subscription is served first": {
			replicas{"a": 4}, []bundle.Subscription{spread(ab, 3), spread(ab, 3)}, []string{"a=3", "a=1 -2"},
		},
		"what was promised to the last is kept before the first grows": {
			replicas{"a": 4},
			[]bundle.Subscription{spread(ab, 3), with(spread(ab, 3), recorded(replicas{"a": 3}))}, []string{"a=1 -2", "a=3"},
		},
		"what an admitted bundle lacks comes before what others want": {
			replicas{"a": 1},
			[]bundle.Subscription{
				with(spread(ab, 1), bundled),
				with(spread(ab, 2), pledged, recorded(replicas{"a": 1}), bound(replicas{"a": 1})),
			},
			[]string{"Waits: -1", "Kept: a=2"},
		},
		"a promise without room is not kept": {
			replicas{"a": 1, "b": 2}, []bundle.Subscription{with(spread(ab, 3), recorded(replicas{"a": 3}))}, []string{"a=1 b=2"},
		},
		"pods that run need no room": {
			replicas{}, []bundle.Subscription{with(spread(ab, 3), recorded(replicas{"a": 3}), bound(replicas{"a": 3}))}, []string{"a=3"},
		},
		"pods beyond the record do not count": {
			replicas{"b": 9}, []bundle.Subscription{with(spread(ab, 3), recorded(replicas{"b": 3}), bound(replicas{"a": 3}))}, []string{"b=3"},
		},
		"without a record the policy counts": {
			replicas{"a": 9, "b": 9},
			[]bundle.Subscription{with(spread(ab, 3), feed(func(f *bundle.Feed) { f.Published = replicas{"a": 3} }))}, []string{"a=3"},
		},
		"without record and policy the pods count": {
			replicas{"a": 9, "b": 9, "gone": 9},
			[]bundle.Subscription{with(spread(ab, 3), bound(replicas{"b": 3, "gone": 2}))}, []string{"b=3"},
		},
		"seats of weights 6 and 3 begin a, a, b, a": {
			replicas{"a": 9, "b": 9}, []bundle.Subscription{with(spread(ab, 4), recorded(replicas{"a": 6, "b": 3}))}, []string{"a=3 b=1"},
		},
		"what shrinks keeps what runs, whichever pods their controller has deleted": {
			replicas{"b": 9}, []bundle.Subscription{with(spread(ab, 4), recorded(replicas{"a": 4, "b": 1}), bound(replicas{"a": 4}))}, []string{"a=4"},
		},
		"what shrinks before its controller has deleted pods": {
			replicas{"b": 9}, []bundle.Subscription{with(spread(ab, 4), recorded(replicas{"a": 4, "b": 1}), bound(replicas{"a": 4, "b": 1}))},
			[]string{"a=3 b=1"},
		},
		"closed clusters shrink first": {
			replicas{"b": 9},
			[]bundle.Subscription{with(spread(clusters("xa", "b"), 4), recorded(replicas{"a": 3, "b": 3}), bound(replicas{"a": 3, "b": 3}))},
			[]string{"a=1 b=3"},
		},
		"a cluster that is not selected keeps what runs": {
			replicas{"a": 9}, []bundle.Subscription{with(spread(clusters("a"), 4), recorded(replicas{"z": 3}), bound(replicas{"z": 2}))},
			[]string{"a=2 z=2"},
		},
		"nothing moves to a larger cluster": {
			replicas{"a": 9, "b": 99}, []bundle.Subscription{with(spread(ab, 6), recorded(replicas{"a": 6}))}, []string{"a=6"},
		},
		"a rebalance forgets": {
			replicas{"a": 0, "b": 6},
			[]bundle.Subscription{with(spread(ab, 6), recorded(replicas{"a": 6}), bound(replicas{"a": 6}), rebalance)}, []string{"a=3 b=3"},
		},
		"few clusters": {
			replicas{"a": 4, "b": 8}, []bundle.Subscription{with(spread(ab, 6), strategy(divide.Binpack))}, []string{"b=6"},
		},
		"by weight, whatever there is room for": {
			replicas{}, []bundle.Subscription{with(spread(ab, 5), strategy(divide.Static))}, []string{"a=3 b=2"},
		},
		"by weight, where nobody runs in a cluster that is cordoned": {
			replicas{}, []bundle.Subscription{with(spread(clusters("a", "b"), 5), strategy(divide.Static), cordoned("a"))}, []string{"b=5"},
		},
		"by weight, where some run in a cluster that is cordoned": {
			replicas{}, []bundle.Subscription{with(spread(clusters("a", "b"), 5), strategy(divide.Static), cordoned("a"), bound(replicas{"a": 1, "b": 2}))},
			[]string{"a=1 b=4"},
		},
		"by weight, where more than their share run in a cluster that is cordoned": {
			replicas{}, []bundle.Subscription{with(spread(clusters("a", "b"), 5), strategy(divide.Static), cordoned("b"), bound(replicas{"a": 1, "b": 4}))},
			[]string{"a=3 b=2"},
		},
		"by weight, where all clusters are cordoned": {
			replicas{}, []bundle.Subscription{with(spread(clusters("a", "b"), 5), strategy(divide.Static), cordoned("a", "b"))}, []string{"a=3 b=2"},
		},
		"by weight, while nothing has one": {
			replicas{}, []bundle.Subscription{with(spread(ab, 5), strategy(divide.Static), recorded(replicas{"a": 4, "b": 1}),
				func(s *bundle.Subscription) { s.Clusters = []bundle.SelectedCluster{{Name: "a"}, {Name: "b"}} })}, []string{"a=4 b=1"},
		},
		"a feed that is not known": {
			replicas{"a": 9}, []bundle.Subscription{with(spread(ab, 1, 2), recorded(replicas{"b": 1}), feed(func(f *bundle.Feed) {
				f.Wanted, f.Obstacle = nil, "unknown"
			}))}, []string{", a=2"},
		},
		"a feed that is not known keeps its record": {
			replicas{"a": 9}, []bundle.Subscription{with(spread(ab, 1, 2), recorded(replicas{"b": 1}), feed(func(f *bundle.Feed) {
				f.Wanted, f.Obstacle, f.KeepsRecord = nil, "unknown", true
			}))}, []string{"b=1, a=2"},
		},
	}
	for name, tc := range tests {
		t.Run(name, tc.check)
	}
}

func TestAdmission(t *testing.T) {
	ab := clusters("a", "b")
	waits := "the bundle waits for room: 2 of 3 replicas of Deployment d1 find none"
	tests := map[string]struct {
		free            replicas
		subscription    bundle.Subscription
		want            string
		wantWaiting     string
		wantProvisional bool
	}{
		"all fit": {replicas{"a": 4, "b": 2}, with(spread(ab, 3, 3), bundled), "Granted: a=2 b=1, a=2 b=1", "", true},
		"one does not fit": {
			free: replicas{"a": 4}, subscription: with(spread(ab, 3, 3), bundled), want: "Waits: -3, -3", wantWaiting: waits,
		},
		"what runs of a bundle that waits stays": {
			free: replicas{"a": 3}, subscription: with(spread(ab, 3, 3), bundled, recorded(replicas{"a": 2}), bound(replicas{"a": 1})),
			want: "Waits: a=1 -2, -3", wantWaiting: waits,
		},
		"by weight": {replicas{"a": 2, "b": 1}, with(spread(ab, 3), bundled, strategy(divide.Static)), "Granted: a=2 b=1", "", true},
		"by weight without room": {
			free: replicas{"a": 9}, subscription: with(spread(ab, 3), bundled, strategy(divide.Static), bound(replicas{"a": 1})),
			want: "Waits: a=1 -2", wantWaiting: "the bundle waits for room: 1 of 3 replicas of Deployment d0 find none",
		},
		"by weight, room lost": {
			replicas{"a": 9}, with(spread(ab, 3), pledged, strategy(divide.Static), bound(replicas{"a": 2})), "Kept: a=2 b=1 ~1", "", false,
		},
		"nothing runs yet": {replicas{"a": 3}, with(spread(ab, 3), pledged, recorded(replicas{"a": 3})), "Kept: a=3", "", true},
		"nothing ran in time, and fits again": {
			replicas{"a": 3}, with(spread(ab, 3), expired, recorded(replicas{"a": 3})), "Granted: a=3", "", true,
		},
		"nothing ran in time, and there is no room": {
			free: replicas{"a": 2}, subscription: with(spread(ab, 3), expired, recorded(replicas{"a": 3})),
			want: "Waits: -3", wantWaiting: "the bundle waits for room: 1 of 3 replicas of Deployment d0 find none",
		},
		"one pod runs": {
			replicas{"a": 2}, with(spread(ab, 3), expired, recorded(replicas{"a": 3}), bound(replicas{"a": 1})), "Kept: a=3", "", false,
		},
		"nothing is wanted": {replicas{}, with(spread(ab, 0), expired), "Kept: ", "", false},
		"an admitted bundle grows as far as there is room": {
			replicas{"a": 2}, with(spread(ab, 9), pledged, recorded(replicas{"a": 3}), bound(replicas{"a": 3})), "Kept: a=5 -4", "", false,
		},
		"a feed is not known": {
			free: replicas{"a": 9}, subscription: with(spread(ab, 3), bundled, feed(func(f *bundle.Feed) { f.Wanted, f.Obstacle = nil, "it is away" })),
			want: "Waits: ", wantWaiting: "the bundle waits for Deployment d0: it is away",
		},
		"no cluster": {subscription: with(spread(nil, 3), bundled), want: "Waits: -3", wantWaiting: "the subscribers select no Cluster"},
		"no bundle":  {replicas{"a": 3}, with(spread(ab, 3), pledged, func(s *bundle.Subscription) { s.Bundled = false }), "a=3", "", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			results, err := bundle.Decide([]bundle.Subscription{tc.subscription}, &cpus{free: tc.free})
			if err != nil {
				t.Fatal(err)
			}
			r := &results[0]
			if got := text(r); got != tc.want || r.Waiting != tc.wantWaiting || r.Provisional != tc.wantProvisional {
				t.Errorf("result is %q, waiting %q, provisional %t; want %q, %q, %t",
					got, r.Waiting, r.Provisional, tc.want, tc.wantWaiting, tc.wantProvisional)
			}
		})
	}
}

func TestABundleThatWaitsLeavesItsRoomToOthers(t *testing.T) {
	a := clusters("a")
	free := &cpus{free: replicas{"a": 4}, costs: map[bundle.Ref]int64{{Subscription: 0, Feed: 1}: 2}}
	results, err := bundle.Decide([]bundle.Subscription{with(spread(a, 2, 2), bundled), with(spread(a, 4), bundled)}, free)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Waits: -2, -2", "Granted: a=4"}, []string{text(&results[0]), text(&results[1])}); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

func TestClusters(t *testing.T) {
	site := func(values string) labels.Selector {
		selector, err := labels.Parse("site in (" + values + ")")
		if err != nil {
			t.Fatal(err)
		}
		return selector
	}
	best := func(n int, groups ...string) func(*bundle.Subscription) {
		return func(s *bundle.Subscription) {
			for _, group := range groups {
				s.Subgroups = append(s.Subgroups, divide.Selection{Selector: site(group), Clusters: n})
			}
		}
	}
	free := replicas{"a": 2, "b": 8, "c": 4}
	tests := map[string]struct {
		subscription bundle.Subscription
		want         string
		wantReason   string
	}{
		"all, by name":            {spread(clusters("c", "a", "b"), 6), "a b c", ""},
		"most room":               {with(spread(clusters("a", "b", "c"), 6), best(1, "a,b,c")), "b", ""},
		"two of them":             {with(spread(clusters("a", "b", "c"), 6), best(2, "a,b,c")), "b c", ""},
		"one of each":             {with(spread(clusters("a", "b", "c"), 6), best(1, "a,b", "c")), "b c", ""},
		"one that takes pods":     {with(spread(clusters("a", "xb", "c"), 6), best(1, "a,b,c")), "c", ""},
		"one that holds replicas": {with(spread(clusters("a", "b"), 6), best(1, "a,b"), recorded(replicas{"a": 1})), "a", ""},
		"one that has pods":       {with(spread(clusters("a", "b"), 6), best(1, "a,b"), bound(replicas{"a": 1})), "a", ""},
		"room alone in a rebalance": {
			with(spread(clusters("a", "b"), 6), best(1, "a,b"), recorded(replicas{"a": 1}), rebalance), "b", "",
		},
		"a preferred one": {
			with(spread(clusters("a", "b"), 6), best(1, "a,b"), func(s *bundle.Subscription) { s.Clusters[0].Preference = 1 }), "a", "",
		},
		"one that holds a replica, rather than a preferred one": {
			with(spread(clusters("a", "b"), 6), best(1, "a,b"), recorded(replicas{"a": 1}),
				func(s *bundle.Subscription) { s.Clusters[1].Preference = 1 }), "a", "",
		},
		"one that has a weight": {
			with(spread(clusters("a", "b"), 6), best(1, "a,b"), strategy(divide.Static), func(s *bundle.Subscription) { s.Clusters[0].Weight = 0 }),
			"b", "",
		},
		"none": {spread(nil, 6), "", berthv1alpha1.ReasonNoClusters},
		"no weight": {
			with(spread(clusters("a"), 6), strategy(divide.Static), func(s *bundle.Subscription) { s.Clusters[0].Weight = 0 }),
			"a", berthv1alpha1.ReasonNoWeight,
		},
		"too many": {
			spread(make([]bundle.SelectedCluster, 1001), 6), strings.Repeat(" ", 1000), berthv1alpha1.ReasonInvalidSubscriber,
		},
		"a problem that is known": {
			with(spread(nil, 6), func(s *bundle.Subscription) { s.Problem = &bundle.Problem{Reason: "Known"} }), "", "Known",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			results, err := bundle.Decide([]bundle.Subscription{tc.subscription}, &cpus{free: maps.Clone(free)})
			if err != nil {
				t.Fatal(err)
			}
			names := make([]string, len(results[0].Clusters))
			for i := range results[0].Clusters {
				names[i] = results[0].Clusters[i].Name
			}
			reason := ""
			if results[0].Problem != nil {
				reason = results[0].Problem.Reason
			}
			if got := strings.Join(names, " "); got != tc.want || reason != tc.wantReason {
				t.Errorf("clusters %q with problem %q, want %q with %q", got, reason, tc.want, tc.wantReason)
			}
		})
	}
}

func TestDecideNamesWhatItCannotDivide(t *testing.T) {
	unbounded := func(s *bundle.Subscription) { s.MinClusters, s.MaxClusters = 2, 1 }
	tests := map[string]bundle.Subscription{
		"by room":             with(spread(clusters("a"), 3), unbounded),
		"a bundle":            with(spread(clusters("a"), 3), unbounded, bundled),
		"by weight":           with(spread(clusters("a"), 3), strategy(divide.Static), func(s *bundle.Subscription) { s.Clusters[0].Weight = 1 << 40 }),
		"more than is wanted": with(spread(clusters("a"), 3), recorded(replicas{"a": 1 << 40})),
	}
	for name, s := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := bundle.Decide([]bundle.Subscription{s}, &cpus{free: replicas{"a": 9}})
			if err == nil || !strings.HasPrefix(err.Error(), "dividing Deployment d0 of Subscription shop/web: ") {
				t.Errorf("error is %v, want one that names the feed and the Subscription", err)
			}
		})
	}
}

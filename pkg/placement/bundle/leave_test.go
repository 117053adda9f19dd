// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle_test

import (
	"maps"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"berth.dev/berth/pkg/placement/bundle"
	"berth.dev/berth/pkg/placement/divide"
)

// offline makes closed clusters whose replicas wait for them, left such as have none any more, and
// back such as take pods again and are not trusted yet.
func offline(names ...string) func(*bundle.Subscription) {
	return change(names, func(c *bundle.SelectedCluster) { c.Open, c.Away = false, true })
}

func cordoned(names ...string) func(*bundle.Subscription) {
	return change(names, func(c *bundle.SelectedCluster) { c.Open, c.Cordoned = false, true })
}

func left(names ...string) func(*bundle.Subscription) {
	return change(names, func(c *bundle.SelectedCluster) { c.Open, c.Away, c.Left = false, true, true })
}

func back(names ...string) func(*bundle.Subscription) {
	return change(names, func(c *bundle.SelectedCluster) { c.Left = true })
}

// longLeft are left, and were so before.
func longLeft(names ...string) func(*bundle.Subscription) {
	return change(names, func(c *bundle.SelectedCluster) { c.Open, c.Away, c.Left, c.WasLeft = false, true, true, true })
}

// longBack are back, and were left before.
func longBack(names ...string) func(*bundle.Subscription) {
	return change(names, func(c *bundle.SelectedCluster) { c.Left, c.WasLeft = true, true })
}

// shaky makes clusters offline of which some nodes still take pods.
func shaky(names ...string) func(*bundle.Subscription) {
	return change(names, func(c *bundle.SelectedCluster) { c.Away = true })
}

func change(names []string, change func(*bundle.SelectedCluster)) func(*bundle.Subscription) {
	return func(s *bundle.Subscription) {
		for i := range s.Clusters {
			for _, name := range names {
				if s.Clusters[i].Name == name {
					change(&s.Clusters[i])
				}
			}
		}
	}
}

func TestClustersThatAreOffline(t *testing.T) {
	six := recorded(replicas{"a": 3, "b": 3})
	ran := bound(replicas{"a": 3, "b": 3})
	three := func() []bundle.SelectedCluster { return clusters("a", "b", "c") }
	subgroup := func(size int) func(*bundle.Subscription) {
		return func(s *bundle.Subscription) {
			s.Subgroups = []divide.Selection{{Selector: labels.Everything(), Clusters: size}}
		}
	}
	subgroups := subgroup(2)
	copied := func(copyable bool) func(*bundle.Subscription) {
		return func(s *bundle.Subscription) {
			s.Strategy, s.Feeds[0].Home, s.Feeds[0].HasPods, s.Feeds[0].Copyable = divide.Replication, "a", true, copyable
		}
	}
	full := replicas{"c": 2}
	roomy := replicas{"a": 9, "b": 9, "c": 9}
	tests := map[string]struct {
		free         replicas
		subscription bundle.Subscription
		want         string
		wantLeft     string
	}{
		"shares by room wait, although their pods are gone": {
			roomy, with(spread(three(), 6), six, bound(replicas{"b": 3}), offline("a")), "a=3 b=3", "",
		},
		"without a rule they go elsewhere": {
			replicas{"c": 9}, with(spread(clusters("xa", "b", "c"), 6), six, bound(replicas{"b": 3})), "b=3 c=3", "",
		},
		"what waits is not given up": {
			replicas{"c": 9}, with(spread(three(), 7), six, bound(replicas{"b": 3}), offline("a"),
				feed(func(f *bundle.Feed) { f.Capped = map[string]bool{"a": true} })), "a=3 b=3 c=1", "",
		},
		"a bundle that is not admitted holds no share": {
			full, with(spread(three(), 6), six, bundled, bound(replicas{"b": 3}), offline("a")), "Waits: b=3 -3", "",
		},
		"shares of a cluster that is left go elsewhere, although pods are there": {
			replicas{"c": 9}, with(spread(three(), 6), six, ran, left("a")), "b=3 c=3", "a",
		},
		"what finds no room elsewhere has none": {
			full, with(spread(three(), 6), six, ran, left("a")), "b=3 c=2 -1", "a",
		},
		"a cluster that is back takes what finds no room elsewhere": {
			replicas{"a": 9, "c": 2}, with(spread(three(), 6), recorded(replicas{"b": 3, "c": 2}), bound(replicas{"b": 3}), back("a")),
			"a=1 b=3 c=2", "a",
		},
		"pods that are still there when it is back stay if there is no room elsewhere": {
			full, with(spread(three(), 6), recorded(replicas{"b": 3, "c": 2}), ran, back("a")), "a=1 b=3 c=2", "a",
		},
		"a cluster that is back takes nothing else": {
			roomy, with(spread(three(), 9), recorded(replicas{"b": 3, "c": 3}), back("a")), "b=5 c=4", "a",
		},
		"nobody is left if all are offline": {
			replicas{}, with(spread(three(), 6), six, ran, left("a", "b", "c")), "a=3 b=3", "",
		},
		"nobody is left for a cluster that takes no pods": {
			replicas{}, with(spread(clusters("a", "b", "xc"), 6), six, ran, left("a", "b")), "a=3 b=3", "",
		},
		"weights wait":                {nil, with(spread(three(), 6), strategy(divide.Static), offline("a")), "a=2 b=2 c=2", ""},
		"weights of the others":       {nil, with(spread(three(), 6), strategy(divide.Static), left("a")), "b=3 c=3", "a"},
		"weights of one that is back": {nil, with(spread(three(), 6), strategy(divide.Static), back("a")), "b=3 c=3", "a"},
		"nobody is left for no weight": {
			nil, with(spread(clusters("a", "b"), 6), strategy(divide.Static), left("a"), weightless("b")), "a=6", "",
		},
		"weights stay with others that are offline for a while": {
			nil, with(spread(three(), 6), strategy(divide.Static), longLeft("a"), offline("b", "c")), "b=3 c=3", "a",
		},
		"nobody is newly left for others that are offline": {
			nil, with(spread(three(), 6), strategy(divide.Static), left("a"), offline("b", "c")), "a=2 b=2 c=2", "",
		},
		"weights come back when the others are left, too": {
			nil, with(spread(three(), 6), strategy(divide.Static), longLeft("a"), left("b", "c")), "a=2 b=2 c=2", "",
		},
		"shares by room stay with others that are offline for a while": {
			replicas{}, with(spread(three(), 6), recorded(replicas{"b": 3, "c": 3}), longLeft("a"), offline("b", "c")), "b=3 c=3", "a",
		},
		"one that is back stays left while others are offline for a while": {
			replicas{"a": 9}, with(spread(clusters("a", "b"), 6), recorded(replicas{"b": 6}), longBack("a"), offline("b")), "b=6", "a",
		},
		"it takes what has no place with others that are offline for a while": {
			replicas{"a": 9}, with(spread(clusters("a", "b"), 7), recorded(replicas{"b": 6}), longBack("a"), offline("b")), "a=1 b=6", "a",
		},
		"a subgroup waits":         {roomy, with(spread(three(), 6), six, ran, subgroups, offline("a")), "a=3 b=3", ""},
		"a subgroup takes another": {replicas{"c": 9}, with(spread(three(), 6), six, ran, subgroups, left("a")), "b=3 c=3", "a"},
		"a subgroup takes none that takes no pods": {
			nil, with(spread(clusters("a", "xb"), 6), recorded(replicas{"a": 6}), bound(replicas{"a": 6}), subgroup(1), left("a")), "a=6", "",
		},
		"a subgroup stays in one that is back, if others take no pods": {
			replicas{"a": 9}, with(spread(clusters("a", "xb"), 6), recorded(replicas{"a": 6}), bound(replicas{"a": 6}), subgroup(1), back("a")),
			"a=6", "",
		},
		"what waits in a cluster with some nodes keeps their room": {
			replicas{"a": 3, "c": 1}, with(spread(three(), 7), six, bound(replicas{"b": 3}), shaky("a")), "a=3 b=3 c=1", "",
		},
		"a subgroup with no other":      {roomy, with(spread(three(), 6), six, ran, subgroups, left("a", "c")), "b=6", "a c"},
		"copies stay":                   {nil, with(spread(three(), 2), copied(true), left("a")), "a=2 b=2 c=2", "a"},
		"what is not copied moves":      {nil, with(spread(three(), 2), copied(false), left("a")), "b=2", "a"},
		"what is not copied waits":      {nil, with(spread(three(), 2), copied(false), offline("a")), "a=2", ""},
		"what is not copied moves on":   {nil, with(spread(clusters("a", "xb", "c"), 2), copied(false), left("a")), "c=2", "a"},
		"copies of a subgroup replaced": {nil, with(spread(three(), 2), copied(true), subgroups, left("a")), "b=2 c=2", "a"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			results, err := bundle.Decide([]bundle.Subscription{tc.subscription}, &cpus{free: maps.Clone(tc.free)})
			if err != nil {
				t.Fatal(err)
			}
			if got, left := text(&results[0]), strings.Join(results[0].Left, " "); got != tc.want || left != tc.wantLeft {
				t.Errorf("division is %q without %q, want %q without %q", got, left, tc.want, tc.wantLeft)
			}
		})
	}
}

// weightless takes the weight of clusters away.
func weightless(names ...string) func(*bundle.Subscription) {
	return change(names, func(c *bundle.SelectedCluster) { c.Weight = 0 })
}

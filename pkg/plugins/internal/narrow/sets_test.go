// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package narrow_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/plugins/internal/narrow"
)

func only(groups ...int32) func(int32) bool {
	return func(group int32) bool { return slices.Contains(groups, group) }
}

func TestAllNodesOfASetAreNamedIfTheyAreFew(t *testing.T) {
	n, _ := newSets([]int{1, 2, 0, 5})
	for name, tc := range map[string]struct {
		groups []int32
		want   []string
	}{
		"one of eight":     {[]int32{0}, []string{"node-0-0"}},
		"a quarter":        {[]int32{1}, []string{"node-1-0", "node-1-1"}},
		"more":             {[]int32{0, 1}, nil},
		"most":             {[]int32{3}, nil},
		"one, and nothing": {[]int32{0, 2}, []string{"node-0-0"}},
		"nothing":          {[]int32{2}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				got := slices.Sorted(maps.Keys(n.All(n.Of(only(tc.groups...)))))
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("named (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// Which group a node is in is asked again only if the version tells that it may have changed.
func TestGroupsAreLearntAnewWithEachVersion(t *testing.T) {
	nodes := make([]fwk.NodeInfo, 4)
	for i := range nodes {
		info := framework.NewNodeInfo()
		info.SetNode(st.MakeNode().Name(fmt.Sprint("n", i)).Obj())
		nodes[i] = info
	}
	n, asked, first := &narrow.Sets{}, 0, 0
	follow := func(version narrow.Version) {
		asked = 0
		n.Follow(nodes, version, 2, func(i int) int32 {
			if asked++; i == first {
				return 0
			}
			return -1
		})
	}
	for _, step := range []struct {
		name      string
		version   narrow.Version
		first     int
		wantAsked int
		want      string
	}{
		{"at first", narrow.Version{}, 0, 4, "n0"},
		{"in the same version", narrow.Version{}, 1, 0, "n0"},
		{"with another shape", narrow.Version{Shape: 1}, 1, 4, "n1"},
		{"with other groups", narrow.Version{Shape: 1, Groups: 1}, 2, 4, "n2"},
	} {
		first = step.first
		follow(step.version)
		got := slices.Collect(maps.Keys(n.All(n.Of(only(0)))))
		if asked != step.wantAsked || !slices.Equal(got, []string{step.want}) {
			t.Errorf("%s %d nodes are asked about and %v are named, want %d and %s", step.name, asked, got, step.wantAsked, step.want)
		}
	}
}

// A set is kept until sets and their groups are eight for each node.
func TestSetsAreKeptWhileTheyAreFew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, _ := newSets([]int{1, 1, 1, 1, 1})
		kept, names := map[int]*narrow.Set{}, 0
		for range rapid.IntRange(1, 120).Draw(t, "sets") {
			mask := rapid.IntRange(1, 31).Draw(t, "mask")
			var groups []int32
			for group := range int32(5) {
				if mask&(1<<group) != 0 {
					groups = append(groups, group)
				}
			}
			set := n.Of(only(groups...))
			if known := kept[mask]; known == nil {
				if names > 8*5 {
					clear(kept)
					names = 0
				}
				kept[mask] = set
				names += len(groups)
			} else if known != set {
				t.Fatal("a set that is kept was made again")
			}
			if n.Kept() != len(kept) {
				t.Fatalf("%d sets are kept, want %d", n.Kept(), len(kept))
			}
		}
	})
}

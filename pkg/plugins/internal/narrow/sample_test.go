// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package narrow_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/plugins/internal/narrow"
)

// newSets returns Sets that know nodes of groups, as many as the sizes say, and the group of each
// node by its name.
func newSets(sizes []int) (n *narrow.Sets, groups map[string]int32) {
	var nodes []fwk.NodeInfo
	var groupOf []int32
	groups = map[string]int32{}
	for group, size := range sizes {
		for i := range size {
			name := fmt.Sprintf("node-%d-%d", group, i)
			info := framework.NewNodeInfo()
			info.SetNode(st.MakeNode().Name(name).Capacity(map[corev1.ResourceName]string{
				corev1.ResourceCPU: "32", corev1.ResourceMemory: "128Gi", corev1.ResourcePods: "110",
			}).Obj())
			nodes, groupOf, groups[name] = append(nodes, info), append(groupOf, int32(group)), int32(group)
		}
	}
	n = &narrow.Sets{}
	n.Follow(nodes, narrow.Version{}, len(sizes), func(i int) int32 { return groupOf[i] })
	return n, groups
}

func everyGroup(int32) bool { return true }

func TestSample(t *testing.T) {
	repeat := func(groups, size int) []int {
		sizes := make([]int, groups)
		for group := range sizes {
			sizes[group] = size
		}
		return sizes
	}
	tests := map[string]struct {
		sizes []int
		// wantNodes is how many nodes each sample has at least and at most, and wantGroups of how many
		// groups at least. The first is 0 if there is no sample.
		wantNodes  [2]int
		wantGroups int
		// wantTurns is how many samples there are.
		wantTurns int
	}{
		"few nodes":                            {sizes: repeat(99, 1)},
		"a hundred nodes":                      {repeat(10, 10), [2]int{50, 50}, 10, 2},
		"a hundred nodes of as many groups":    {repeat(100, 1), [2]int{50, 50}, 50, 2},
		"less than two samples":                {repeat(199, 1), [2]int{99, 100}, 99, 2},
		"few groups":                           {repeat(10, 100), [2]int{100, 100}, 10, 10},
		"few groups, one is small":             {append(repeat(9, 100), 2), [2]int{101, 110}, 10, 9},
		"few groups, and others without nodes": {append(repeat(10, 100), repeat(90, 0)...), [2]int{100, 100}, 10, 10},
		"as many groups as a sample can have":  {repeat(50, 8), [2]int{100, 100}, 50, 4},
		"as many, one is large":                {append(repeat(49, 2), 150), [2]int{159, 159}, 50, 3},
		"one group, a node short of three":     {[]int{299}, [2]int{100, 100}, 1, 3},
		"more groups than a sample can have":   {repeat(1000, 1), [2]int{100, 100}, 100, 10},
		"many groups of several nodes":         {repeat(1000, 5), [2]int{100, 100}, 100, 50},
		"many groups, just enough for two":     {repeat(200, 1), [2]int{100, 100}, 100, 2},
		"many groups, one is large":            {append(repeat(400, 1), 3600), [2]int{100, 100}, 11, 40},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			n, groups := newSets(tc.sizes)
			set, pod, seen := n.Of(everyGroup), st.MakePod().Name("p").Obj(), sets.New[string]()
			var first sets.Set[string]
			for turn := range max(tc.wantTurns, 1) {
				names := n.Sample(set, pod)
				if turn == 0 {
					first = names
				}
				if len(names) < tc.wantNodes[0] || len(names) > tc.wantNodes[1] {
					t.Fatalf("%d nodes are named, want %d to %d", len(names), tc.wantNodes[0], tc.wantNodes[1])
				}
				met := sets.New[int32]()
				for name := range names {
					met.Insert(groups[name])
				}
				if len(met) < tc.wantGroups {
					t.Errorf("they are of %d groups, want %d", len(met), tc.wantGroups)
				}
				seen.Insert(names.UnsortedList()...)
			}
			if tc.wantTurns > 0 && len(seen) != len(groups) {
				t.Errorf("%d nodes have had their turn, want all %d", len(seen), len(groups))
			}
			if again := n.Sample(set, pod); !again.Equal(first) {
				t.Error("after the last sample the first one does not come again")
			}
		})
	}
}

func TestSamplesAreOfAdmittedGroupsAndMissNone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(0, 12), 1, 150).Draw(t, "sizes")
		barred := rapid.Int32Range(0, 10).Draw(t, "barred")
		admitted := func(group int32) bool { return group%11 != barred }
		n, groups := newSets(sizes)
		set, pod, seen, want := n.Of(admitted), st.MakePod().Name("p").Obj(), sets.New[string](), sets.New[string]()
		for name, group := range groups {
			if admitted(group) {
				want.Insert(name)
			}
		}
		// There are never more samples than nodes.
		for range groups {
			names := n.Sample(set, pod)
			if (names != nil) != (len(want) >= 100) {
				t.Fatalf("%d of %d nodes are named", len(names), len(want))
			}
			if len(names) > 200 {
				t.Fatalf("%d nodes are named, want about a hundred", len(names))
			}
			seen.Insert(names.UnsortedList()...)
		}
		if len(want) >= 100 && !seen.Equal(want) {
			t.Errorf("%d nodes have been named, want the %d of the admitted groups", len(seen), len(want))
		}
	})
}

// While groups come to their shares one after the other, each pod needs another set.
func TestSetsThatAreNotNeededAgainAreForgotten(t *testing.T) {
	sizes := make([]int, 100)
	for group := range sizes {
		sizes[group] = 1
	}
	n, _ := newSets(sizes)
	for i := range int32(1000) {
		n.Of(func(group int32) bool { return group != i%100 && group != i/10 })
	}
	if kept := n.Kept(); kept > 10 {
		t.Errorf("%d sets are kept, want at most 10", kept)
	}
}

func TestSetsThatReplaceEachOtherDoNotAllBeginWithTheSameNodes(t *testing.T) {
	sizes := make([]int, 1000)
	for group := range sizes {
		sizes[group] = 1
	}
	n, _ := newSets(sizes)
	pod, seen := st.MakePod().Name("p").Obj(), sets.New[string]()
	for full := range int32(10) {
		seen.Insert(n.Sample(n.Of(func(group int32) bool { return group != full }), pod).UnsortedList()...)
	}
	if len(seen) < 900 {
		t.Errorf("%d nodes have been named for ten sets that differ in one group, want nearly all 1000", len(seen))
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package narrow names to the framework the nodes that may take a pod, so that it looks at no
// others. Nodes come in groups, of which a plugin admits some: the clusters of a policy, or the
// nodes that draw on the same pools.
package narrow

import (
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
)

// below is how large a part of all nodes may be worth naming to the framework, as a divisor. The
// framework looks up each named node, and copies the names for each plugin; of more nodes than that
// it is quicker to reject some in Filter.
const below = 4

// keptNames bounds the memory of the sets that are kept, in names and groups for each node there
// is.
const keptNames = 8

// Sets names the nodes of sets of groups. Sets are kept for as long as the nodes and their groups
// stay the same; most of the time all pods of a policy, or of a resource, need the same one. It
// belongs to the scheduling cycle, like the view, and is not safe for concurrent use. The zero
// value is ready.
type Sets struct {
	// Adaptive is true if samples of many nodes are larger. It is for pods that may go to all nodes of
	// the groups alike, and must not change once there are sets.
	Adaptive bool

	version Version
	nodes   []fwk.NodeInfo
	byGroup [][]int32 // positions in nodes
	kept    map[string]*Set
	names   int    // in all sets together, and their groups
	made    int    // for how many sets there are samples, or were
	key     []byte // of the last set: a bit for each group
}

// Version tells two states of nodes and their groups apart. Any difference makes Sets learn the
// groups anew.
type Version struct {
	// Shape is that of the view: it changes with the list of nodes.
	Shape int64
	// Groups changes when a node goes from one group to another and Shape does not tell.
	Groups int64
}

// Set is the nodes of a set of groups.
type Set struct {
	groups   []int32 // that have nodes
	size     int
	adaptive bool
	all      sets.Set[string] // nil until needed
	samples  []sample         // nil until needed
	next     int
}

// Follow takes over the nodes of the snapshot. If the version is another one than at the last call
// it asks for the group of the n-th node, negative for none; all groups are smaller than the number
// of them.
func (n *Sets) Follow(nodes []fwk.NodeInfo, version Version, groups int, groupOf func(n int) int32) {
	if n.kept != nil && n.version == version {
		n.nodes = nodes
		return
	}
	*n = Sets{
		Adaptive: n.Adaptive, version: version, nodes: nodes, byGroup: make([][]int32, groups), kept: map[string]*Set{}, key: make([]byte, (groups+7)/8),
	}
	for i := range nodes {
		if group := groupOf(i); group >= 0 {
			n.byGroup[group] = append(n.byGroup[group], int32(i))
		}
	}
}

// Of returns the nodes of the groups that are admitted, nil if there are none.
func (n *Sets) Of(admitted func(group int32) bool) *Set {
	size := 0
	clear(n.key)
	for group := range n.byGroup {
		if admitted(int32(group)) {
			n.key[group/8] |= 1 << (group % 8)
			size += len(n.byGroup[group])
		}
	}
	if size == 0 {
		return nil
	}
	set := n.kept[string(n.key)]
	if set == nil {
		set = n.newSet(size)
		n.kept[string(n.key)] = set
	}
	return set
}

// newSet returns the set of the key.
func (n *Sets) newSet(size int) *Set {
	if n.names > keptNames*len(n.nodes) {
		clear(n.kept)
		n.names = 0
	}
	set := &Set{size: size, adaptive: n.Adaptive}
	for group := range n.byGroup {
		if n.key[group/8]&(1<<(group%8)) != 0 && len(n.byGroup[group]) > 0 {
			set.groups = append(set.groups, int32(group))
		}
	}
	n.names += len(set.groups)
	return set
}

// All returns the names of all nodes of a set, nil if they are so many that it is better not to
// name them. They must not be changed.
func (n *Sets) All(set *Set) sets.Set[string] {
	if set == nil || set.size*below > len(n.nodes) {
		return nil
	}
	if set.all == nil {
		set.all = make(sets.Set[string], set.size)
		n.names += set.size
		for _, group := range set.groups {
			for _, i := range n.byGroup[group] {
				set.all.Insert(n.nodes[i].Node().Name)
			}
		}
	}
	return set.all
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy

import (
	"sync/atomic"

	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
)

// narrowBelow is how large a part of all nodes may be worth naming to the framework, as a divisor. The framework looks up each
// named node, and copies the names for each plugin; of more nodes than that it is quicker to reject some in Filter.
const narrowBelow = 4

// keptNames bounds the memory of the sets that are kept, in names for each node there is.
const keptNames = 8

// narrowing names the nodes of sets of clusters. Sets are kept for as long as the nodes and their clusters stay the same; most
// of the time all pods of a policy need the same one. It belongs to the scheduling cycle, like the view.
type narrowing struct {
	shape     int64
	nodes     []fwk.NodeInfo
	byCluster [][]int32 // positions in nodes, by the cluster's ID in the view
	kept      map[string]*nodeSet
	names     int    // in all sets together
	key       []byte // of the last set: a bit for each cluster
}

// nodeSet is the nodes of a set of clusters.
type nodeSet struct {
	ids     []int32 // of the clusters
	size    int
	all     sets.Set[string] // nil until needed
	samples []sample         // nil until needed
	next    int
}

// admitted returns the nodes that the state admits, nil if there are none.
func (n *narrowing) admitted(s *state, nodes []fwk.NodeInfo) *nodeSet {
	if s.admission == anywhere {
		return nil
	}
	if n.kept == nil || n.shape != s.view.Shape() {
		n.learn(s, nodes)
	}
	n.nodes = nodes
	size := 0
	clear(n.key)
	for id, cluster := range s.clusters {
		if cluster != none && id < len(n.byCluster) && s.admits(cluster) {
			n.key[id/8] |= 1 << (id % 8)
			size += len(n.byCluster[id])
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

// learn notes which nodes lie in which cluster.
func (n *narrowing) learn(s *state, nodes []fwk.NodeInfo) {
	*n = narrowing{
		shape: s.view.Shape(), byCluster: make([][]int32, s.view.Clusters()), kept: map[string]*nodeSet{},
		key: make([]byte, (s.view.Clusters()+7)/8),
	}
	for i := range nodes {
		if id := s.view.ClusterAt(i); id >= 0 {
			n.byCluster[id] = append(n.byCluster[id], int32(i))
		}
	}
}

// newSet returns the set of the key.
func (n *narrowing) newSet(size int) *nodeSet {
	if n.names > keptNames*len(n.nodes) {
		clear(n.kept)
		n.names = 0
	}
	set := &nodeSet{size: size}
	for id := range n.byCluster {
		if n.key[id/8]&(1<<(id%8)) != 0 {
			set.ids = append(set.ids, int32(id))
		}
	}
	return set
}

// allOf returns the names of all nodes of a set, nil if they are so many that it is better not to name them.
func (n *narrowing) allOf(set *nodeSet) sets.Set[string] {
	if set == nil || set.size*narrowBelow > len(n.nodes) {
		return nil
	}
	if set.all == nil {
		set.all = make(sets.Set[string], set.size)
		n.names += set.size
		for _, id := range set.ids {
			for _, i := range n.byCluster[id] {
				set.all.Insert(n.nodes[i].Node().Name)
			}
		}
	}
	return set.all
}

// statusSetter is what the framework hands to PostFilter, beside what the interface promises.
type statusSetter interface {
	Set(node string, status *fwk.Status)
}

// explain gives nodes that PreFilter kept away from Filter the reasons that Filter would have given. The framework has but one
// reason for all of them, which does not tell the user more than the name of this plugin.
func (s *state) explain(nodes []fwk.NodeInfo, statuses fwk.NodeToStatusReader) {
	setter, ok := statuses.(statusSetter)
	if !ok || s.shared {
		return // the nodes of other schedulers would be told to be in no cluster of the policy
	}
	for i, info := range nodes {
		if cluster := s.clusterAt(i); !s.admits(cluster) {
			setter.Set(info.Node().Name, s.rejection(cluster).WithPlugin(Name))
		}
	}
}

// rejection is the answer for a node that is not admitted.
func (s *state) rejection(cluster int32) *fwk.Status {
	r := s.reason(cluster)
	atomic.OrUint32(s.rejected, 1<<r)
	return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, r.String())
}

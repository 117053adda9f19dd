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
const keptNames = 4

// narrowing names the nodes of sets of clusters. Sets are kept for as long as the nodes and their clusters stay the same; most
// of the time all pods of a policy need the same one. It belongs to the scheduling cycle, like the view.
type narrowing struct {
	shape     int64
	byCluster [][]string // by ID in the view
	sets      map[string]sets.Set[string]
	names     int    // in all sets together
	key       []byte // of the last set: a bit for each cluster
}

// admitted returns the names of the nodes that the state admits. It returns nil if there are none, so that Filter tells the
// reasons, and if there are so many that it is better not to name them.
func (n *narrowing) admitted(s *state, nodes []fwk.NodeInfo) sets.Set[string] {
	if s.admission == anywhere {
		return nil
	}
	if n.sets == nil || n.shape != s.view.Shape() {
		n.learn(s, nodes)
	}
	total := 0
	clear(n.key)
	for id, cluster := range s.clusters {
		if cluster != none && id < len(n.byCluster) && s.admits(cluster) {
			n.key[id/8] |= 1 << (id % 8)
			total += len(n.byCluster[id])
		}
	}
	if total == 0 || total*narrowBelow > len(nodes) {
		return nil
	}
	if known, found := n.sets[string(n.key)]; found {
		return known
	}
	return n.keep(total, len(nodes))
}

// learn notes which nodes lie in which cluster.
func (n *narrowing) learn(s *state, nodes []fwk.NodeInfo) {
	*n = narrowing{
		shape: s.view.Shape(), byCluster: make([][]string, s.view.Clusters()), sets: map[string]sets.Set[string]{},
		key: make([]byte, (s.view.Clusters()+7)/8),
	}
	for i, info := range nodes {
		if id := s.view.ClusterAt(i); id >= 0 {
			n.byCluster[id] = append(n.byCluster[id], info.Node().Name)
		}
	}
}

// keep makes the set of the key.
func (n *narrowing) keep(total, nodes int) sets.Set[string] {
	if n.names += total; n.names > keptNames*nodes {
		clear(n.sets)
		n.names = total
	}
	set := make(sets.Set[string], total)
	for id, names := range n.byCluster {
		if n.key[id/8]&(1<<(id%8)) != 0 {
			set.Insert(names...)
		}
	}
	n.sets[string(n.key)] = set
	return set
}

// statusSetter is what the framework hands to PostFilter, beside what the interface promises.
type statusSetter interface {
	Set(node string, status *fwk.Status)
}

// explain gives nodes that PreFilter kept away from Filter the reasons that Filter would have given. The framework has but one
// reason for all of them, which does not tell the user more than the name of this plugin.
func (s *state) explain(nodes []fwk.NodeInfo, statuses fwk.NodeToStatusReader) {
	setter, ok := statuses.(statusSetter)
	if !ok {
		return
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

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"time"

	fwk "k8s.io/kube-scheduler/framework"
)

// WholeInterval is how long RefreshClusters may go without a look at all nodes. A look at 50000 of
// them takes a hundredth of it, and what a watch tells is often later than that.
const WholeInterval = 20 * time.Millisecond

// RefreshClusters is Refresh for a caller that asks about some clusters only, given by their IDs.
// Of many nodes it looks at few: at those that lie in one of the clusters, which are then as up to
// date as after Refresh. A node that has come to one of them from another since the last look at
// all nodes, less than WholeInterval ago, still counts where it was. It returns whether it has
// looked at all nodes, as it does when that is not dearer.
func (v *View) RefreshClusters(infos []fwk.NodeInfo, membership Membership, clusters []int32, now time.Time) (whole bool) {
	known := !v.unfinished && membership == v.membership && len(infos) == len(v.nodes) && v.part.follows(infos) &&
		now.Sub(v.part.whole) < WholeInterval
	if known && v.recountClusters(infos, clusters) {
		return false
	}
	v.Refresh(infos, membership)
	v.part.whole = now
	return true
}

// recountClusters recounts the nodes of some clusters that changed. It does nothing and returns
// false if these are so many that a look at all nodes is quicker.
func (v *View) recountClusters(infos []fwk.NodeInfo, clusters []int32) bool {
	v.part.index(v)
	total := 0
	for _, id := range clusters {
		total += len(v.part.of(id))
	}
	if total > len(infos)/2 {
		return false
	}
	v.unfinished = true
	v.recounted = 0
	for _, id := range clusters {
		for _, i := range v.part.of(id) {
			if g := generation(infos[i]); g != v.generations[i] {
				v.recount(&v.nodes[i])
				v.generations[i] = g
			}
		}
	}
	v.sweepVanished()
	v.unfinished = false
	return true
}

// part knows which nodes of the list that the view follows lie in which cluster.
type part struct {
	// list is where the list begins. The snapshot makes another one whenever a node comes or goes,
	// and changes nodes in place.
	list *fwk.NodeInfo
	// whole is when RefreshClusters looked at all nodes.
	whole time.Time
	// shape is that of the view when the nodes were looked up.
	shape int64
	nodes [][]int32
}

// follow takes over a list of nodes.
func (p *part) follow(infos []fwk.NodeInfo) {
	p.list = nil
	if len(infos) > 0 {
		p.list = &infos[0]
	}
}

func (p *part) follows(infos []fwk.NodeInfo) bool {
	return len(infos) > 0 && p.list == &infos[0]
}

// index finds the nodes of each cluster, unless that is known.
func (p *part) index(v *View) {
	if p.nodes != nil && p.shape == v.shape {
		return
	}
	for id := range p.nodes {
		p.nodes[id] = p.nodes[id][:0]
	}
	for len(p.nodes) < len(v.clusterNames) {
		p.nodes = append(p.nodes, nil)
	}
	for i := range v.nodes {
		if id := v.nodes[i].cluster; id != NoCluster {
			p.nodes[id] = append(p.nodes[id], int32(i))
		}
	}
	p.shape = v.shape
}

// of returns the nodes of a cluster, none of one that had no node when they were looked up.
func (p *part) of(id int32) []int32 {
	if int(id) >= len(p.nodes) {
		return nil
	}
	return p.nodes[id]
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"time"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/utils/clock"
)

// RefreshClusters goes without a look at all nodes for at least WholeInterval, and at most
// LongestInterval. Between the two it is wholeShare times as long as such a look takes: in a large
// cache a look waits for memory at each node, and should not become what decisions cost. What one
// takes is the less of the last two, as it takes longer once when nodes come or are counted anew.
const (
	WholeInterval   = 20 * time.Millisecond
	LongestInterval = time.Second
	wholeShare      = 100
)

// RefreshClusters is Refresh for a caller that asks about some clusters only, given by their IDs.
// Of many nodes it looks at few: at those that lie in one of the clusters, which are then as up to
// date as after Refresh. A node that has come to one of them from another since the last look at
// all nodes still counts where it was, for an interval at most. It returns whether it has looked at
// all nodes, as it does when that is not dearer.
func (v *View) RefreshClusters(infos []fwk.NodeInfo, membership Membership, clusters []int32, clk clock.PassiveClock) (whole bool) {
	now := clk.Now()
	known := !v.unfinished && membership == v.membership && len(infos) == len(v.nodes) && v.part.follows(infos) &&
		now.Sub(v.part.whole) < v.part.interval
	if known && v.recountClusters(infos, clusters) {
		return false
	}
	v.Refresh(infos, membership)
	v.part.looked(now, clk.Now())
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
	// whole is when RefreshClusters had looked at all nodes, took for how long it did, and interval
	// how long that holds.
	whole          time.Time
	took, interval time.Duration
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

// looked notes when RefreshClusters began to look at all nodes, and when it had.
func (p *part) looked(began, ended time.Time) {
	took := ended.Sub(began)
	p.interval = min(max(WholeInterval, wholeShare*min(took, p.took)), LongestInterval)
	p.whole, p.took = ended, took
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

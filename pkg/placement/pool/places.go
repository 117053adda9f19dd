// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// Places tells which pools of a resource select which node. Nodes that the same pools select are
// one site, so that a decision can be made once for all of them. The methods that read are safe for
// concurrent use between two changes.
type Places struct {
	resource *Resource
	sites    [][]int32 // by site: its pools, the most specific first
	bySet    map[string]int32
	nodes    map[string]int32 // by node: its site
	size     []int            // by site: its nodes
	counts   []int            // by pool: the nodes it selects
	ranked   bool
	version  int64
}

// NewPlaces returns places without nodes.
func NewPlaces(r *Resource) *Places {
	return &Places{
		resource: r, bySet: map[string]int32{}, nodes: map[string]int32{}, counts: make([]int, len(r.pools)),
	}
}

// Resource returns the resource whose pools these are.
func (p *Places) Resource() *Resource {
	return p.resource
}

// Set says that there is a node with the labels.
func (p *Places) Set(node string, labels map[string]string) {
	site := p.siteOf(p.resource.Select(labels))
	old, known := p.nodes[node]
	if known && old == site {
		return
	}
	if known {
		p.resize(old, -1)
	}
	p.nodes[node] = site
	p.resize(site, 1)
}

// Drop says that a node is gone.
func (p *Places) Drop(node string) {
	if site, known := p.nodes[node]; known {
		p.resize(site, -1)
		delete(p.nodes, node)
	}
}

// siteOf returns the site of a set of pools.
func (p *Places) siteOf(pools []int32) int32 {
	key := make([]byte, 0, 4*len(pools))
	for _, i := range pools {
		key = binary.LittleEndian.AppendUint32(key, uint32(i))
	}
	if site, known := p.bySet[string(key)]; known {
		return site
	}
	site := int32(len(p.sites))
	p.bySet[string(key)] = site
	p.sites = append(p.sites, pools)
	p.size = append(p.size, 0)
	p.ranked = false
	return site
}

func (p *Places) resize(site int32, nodes int) {
	p.size[site] += nodes
	for _, i := range p.sites[site] {
		p.counts[i] += nodes
	}
	p.ranked = false
	p.version++
}

// Version returns a number that changes whenever a node comes to a site or leaves it.
func (p *Places) Version() int64 {
	return p.version
}

// Rank puts the pools of each site in order, the most specific first: the one that selects the
// fewest nodes, then by name. It must be called after changes and before anything is read.
func (p *Places) Rank() {
	if p.ranked {
		return
	}
	for _, site := range p.sites {
		slices.SortFunc(site, func(a, b int32) int {
			return cmp.Or(cmp.Compare(p.counts[a], p.counts[b]),
				cmp.Compare(p.resource.pools[a].Name, p.resource.pools[b].Name))
		})
	}
	p.ranked = true
}

// SiteOf returns the site of a node, and false if the node is not known.
func (p *Places) SiteOf(node string) (int32, bool) {
	site, known := p.nodes[node]
	return site, known
}

// Sites returns the number of sites; all sites are smaller. There may be sites without nodes.
func (p *Places) Sites() int {
	return len(p.sites)
}

// Nodes returns the number of nodes of a site.
func (p *Places) Nodes(site int32) int {
	return p.size[site]
}

// Pools returns the pools of a site, as indexes, the most specific first. They must not be changed.
func (p *Places) Pools(site int32) []int32 {
	return p.sites[site]
}

// at returns the pools that would select a node with the labels, the most specific first.
func (p *Places) at(labels map[string]string) []int32 {
	return p.sites[p.siteOfLabels(labels)]
}

func (p *Places) siteOfLabels(labels map[string]string) int32 {
	site := p.siteOf(p.resource.Select(labels))
	p.Rank()
	return site
}

// Selected returns the number of nodes that a pool selects.
func (p *Places) Selected(pool int32) int {
	return p.counts[pool]
}

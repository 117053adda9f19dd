// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// Request is what a pod asks for of one ClusterResource.
type Request struct {
	// Resource is the name of the ClusterResource.
	Resource string
	// Quantity is how much, more than 0.
	Quantity resource.Quantity
}

// Key names a pool among those of all ClusterResources.
type Key struct {
	// Resource is the name of the ClusterResource.
	Resource string
	// Pool is the name of the pool.
	Pool string
}

// Charge is what a pod holds of one pool.
type Charge struct {
	// Resource is the name of the ClusterResource.
	Resource string
	// Pool is the name of the pool.
	Pool string
	// Quantity is how much.
	Quantity resource.Quantity
	// Grantee is the Scheduler out of whose grant it is charged, empty if nobody was granted
	// anything.
	Grantee string
}

// Admits reports whether the pools of a node, the most specific first, have so many units left for
// one pod more: all of them with mode AllOf, one of them otherwise. A node without pools has
// nothing.
func (r *Resource) Admits(pools []int32, free Free, units int64) bool {
	for _, i := range pools {
		if has := enough(free(i), units); has != r.AllOf() {
			return has
		}
	}
	return r.AllOf() && len(pools) > 0
}

// Choose returns which of the pools of a node, the most specific first, a pod that asks for so many
// units is charged to: all of them with mode AllOf, otherwise the first that has enough left. It is
// false if they have not enough.
func (r *Resource) Choose(pools []int32, free Free, units int64) (chosen []int32, ok bool) {
	if r.AllOf() {
		return pools, r.Admits(pools, free, units)
	}
	for n, i := range pools {
		if enough(free(i), units) {
			return pools[n : n+1], true
		}
	}
	return nil, false
}

// owed returns which of the pools of a node a pod that runs there, whoever placed it, is charged
// to: those that Choose returns, or with none having enough left the most specific one.
func (r *Resource) owed(pools []int32, free Free, units int64) []int32 {
	if chosen, ok := r.Choose(pools, free, units); ok || len(pools) == 0 || r.AllOf() {
		return chosen
	}
	return pools[:1]
}

// Owed returns what a pod with the request that runs on a node is charged, by the rule of
// Resource.owed; nothing if the node is not known. A part of a unit counts as a whole one.
func (p *Places) Owed(node string, request Request, free Free) []Charge {
	site, known := p.SiteOf(node)
	if !known {
		return nil
	}
	r := p.resource
	return r.Charges(r.owed(p.Pools(site), free, UnitsUp(request.Quantity, r.unit)), request)
}

// Suffices reports whether the pools of a node could take a pod that asks for so many units if
// nobody else held any.
func (r *Resource) Suffices(pools []int32, units int64) bool {
	return r.Admits(pools, func(i int32) int64 { return r.pools[i].Allocatable }, units)
}

// Charges returns the charges of a request to the chosen pools.
func (r *Resource) Charges(chosen []int32, request Request) []Charge {
	charges := make([]Charge, 0, len(chosen))
	for _, i := range chosen {
		charges = append(charges, Charge{Resource: r.name, Pool: r.pools[i].Name, Quantity: request.Quantity})
	}
	return charges
}

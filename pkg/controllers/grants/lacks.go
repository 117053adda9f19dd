// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grants

import (
	"context"
	"math"

	"k8s.io/apimachinery/pkg/util/sets"

	"berth.dev/berth/pkg/model/demand"
	"berth.dev/berth/pkg/placement/grants"
	"berth.dev/berth/pkg/placement/pool"
)

// findLacks takes over what replicas lack that are to move to the Clusters of other schedulers.
func (p *pass) findLacks(ctx context.Context) error {
	if p.Adviser == nil {
		return nil
	}
	if p.lacks = p.Adviser.Lacks(); len(p.lacks) == 0 {
		return nil
	}
	nodes := sets.New[string]()
	for i := range p.lacks {
		nodes.Insert(p.lacks[i].Nodes...)
	}
	pools, err := p.Reconciler.pools(ctx, p.resources, nodes)
	if err != nil {
		return err
	}
	pools.Rank()
	p.places = pools
	return nil
}

// addLacks adds what replicas lack of a ClusterResource to what schedulers say. It comes after
// everything that pods want which wait, and takes nothing from a scheduler that has such pods: the
// replicas run.
func (p *pass) addLacks(usable *pool.Resource, of func(poolName string) *grants.SharedPool) {
	for i := range p.lacks {
		lack := &p.lacks[i]
		requests, err := demand.Of(lack.Pod)
		if err != nil {
			continue
		}
		for _, request := range requests {
			if request.Resource != usable.Name() {
				continue
			}
			units := pool.UnitsUp(request.Quantity, usable.Unit())
			for _, chosen := range p.drawn(usable, lack.Nodes, units) {
				reports := of(usable.Pools()[chosen].Name).Reports
				report := reports[lack.Scheduler]
				report.Demands = append(report.Demands, grants.Demand{
					Wanted: times(units, lack.Copies), Least: units, Priority: math.MinInt32, Since: math.MaxInt64, Short: true,
				})
				reports[lack.Scheduler] = report
			}
		}
	}
}

// drawn returns the pools that a pod would be charged to on the first of some nodes whose pools
// have enough left, in whosever grant.
func (p *pass) drawn(usable *pool.Resource, nodes []string, units int64) []int32 {
	places := p.places.Places(usable.Name())
	if places == nil {
		return nil
	}
	free := p.held.Free(usable)
	left := func(i int32) int64 { return free[i] }
	for _, node := range nodes {
		site, known := places.SiteOf(node)
		if !known {
			continue
		}
		if chosen, ok := places.Resource().Choose(places.Pools(site), left, units); ok {
			return chosen
		}
	}
	return nil
}

// times returns so many times the units, the largest number there is if that is more.
func times(units int64, copies int) int64 {
	if copies > 0 && units > math.MaxInt64/int64(copies) {
		return math.MaxInt64
	}
	return units * int64(copies)
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grants

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/placement/grants"
	"berth.dev/berth/pkg/placement/pool"
)

// maxGrants bounds the grants of a ClusterResource.
const maxGrants = 5000

// step fills in the next grants of a ClusterResource; false if its pools cannot be used.
func (p *pass) step(object *berthv1alpha1.ClusterResource) bool {
	usable, err := pool.NewResource(object)
	if err != nil {
		return false
	}
	pools := p.pools(object, usable)
	revision := p.revisionAfter(object)
	var next []berthv1alpha1.PoolGrant
	for _, name := range slices.Sorted(maps.Keys(pools)) {
		current := pools[name]
		current.Held = heldOf(p.held, usable, name)
		for scheduler, g := range grants.Next(*current, p.schedulers, revision) {
			p.unsettled = p.unsettled || g.Shrinking
			granted, fits := grantOf(scheduler, name, g, usable.Unit())
			if !fits {
				return false
			}
			next = append(next, granted)
		}
	}
	if len(next) > maxGrants && len(next) > len(object.Status.Grants) {
		return false // who waits has to wait until others need fewer
	}
	slices.SortFunc(next, func(a, b berthv1alpha1.PoolGrant) int {
		return cmp.Or(cmp.Compare(a.Pool, b.Pool), cmp.Compare(a.Scheduler, b.Scheduler))
	})
	object.Status.Grants = next
	return true
}

// pools returns the pools of which something was granted or is said, with all but what is held.
func (p *pass) pools(object *berthv1alpha1.ClusterResource, usable *pool.Resource) map[string]*grants.SharedPool {
	found := map[string]*grants.SharedPool{}
	of := func(name string) *grants.SharedPool {
		if found[name] == nil {
			found[name] = &grants.SharedPool{
				Allocatable: allocatable(usable, name), Grants: map[string]grants.Grant{}, Reports: map[string]grants.Report{},
			}
		}
		return found[name]
	}
	unit := usable.Unit()
	for i := range object.Status.Grants {
		g := &object.Status.Grants[i]
		recorded := grants.Grant{Quantity: pool.UnitsUp(g.Quantity, unit), Revision: g.Revision}
		if g.ShrinkTo != nil {
			recorded.Shrinking, recorded.Target = true, pool.UnitsUp(*g.ShrinkTo, unit)
		}
		of(g.Pool).Grants[g.Scheduler] = recorded
	}
	for name, s := range p.objects {
		// What a process has said that is gone is told by its pods now.
		if s.Status.Spending == nil || !state.IsAlive(s) {
			continue
		}
		for i := range s.Status.Spending.Pools {
			if said := &s.Status.Spending.Pools[i]; said.Resource == object.Name {
				of(said.Pool).Reports[name] = reportOf(said, unit)
			}
		}
	}
	p.addLacks(usable, of)
	return found
}

// allocatable returns how much of a pool there is. What the spec lowers is published only after the
// grants have shrunk to it, and counts already.
func allocatable(usable *pool.Resource, name string) int64 {
	if i, known := usable.Index(name); known {
		return usable.Pools()[i].Allocatable
	}
	return 0
}

func reportOf(said *berthv1alpha1.PoolSpending, unit resource.Quantity) grants.Report {
	units := func(q *resource.Quantity) int64 {
		if q == nil {
			return 0
		}
		return max(0, pool.UnitsUp(*q, unit))
	}
	report := grants.Report{
		Revision: said.Revision, Acknowledges: said.Limit != nil, Limit: units(said.Limit),
	}
	if said.Wanted != nil {
		first := grants.Demand{Wanted: units(said.Wanted), Least: units(said.Least), Priority: said.Priority}
		if said.Since != nil {
			first.Since = said.Since.Unix()
		}
		report.Demands = append(report.Demands, first)
	}
	demand := func(d *berthv1alpha1.PoolDemand) grants.Demand {
		return grants.Demand{Wanted: units(&d.Wanted), Least: units(&d.Least), Priority: d.Priority, Since: d.Since.Unix()}
	}
	for i := range said.Lower {
		report.Demands = append(report.Demands, demand(&said.Lower[i]))
	}
	for i := range said.Next {
		next := demand(&said.Next[i])
		next.Short = true
		report.Demands = append(report.Demands, next)
	}
	return report
}

// grantOf returns a grant as it is recorded; false if it is more than an amount can be.
func grantOf(scheduler, poolName string, g grants.Grant, unit resource.Quantity) (berthv1alpha1.PoolGrant, bool) {
	quantity, fits := pool.Quantity(g.Quantity, unit)
	granted := berthv1alpha1.PoolGrant{Scheduler: scheduler, Pool: poolName, Quantity: quantity, Revision: g.Revision}
	if g.Shrinking {
		target, _ := pool.Quantity(g.Target, unit)
		granted.ShrinkTo = &target
	}
	return granted, fits
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
)

// Handover follows how Schedulers hand Clusters, and units of pools, on to each other: neither
// changes hands before the one that has it has acknowledged that, or has lost its lease.
type Handover struct {
	// limits are the smallest that were acknowledged under each revision of a grant, most the largest
	// under any: a Scheduler may be granted what its pods hold already.
	limits map[revision]int64
	most   map[grantOf]int64
	// drained are the revisions of Clusters that were acknowledged.
	drained map[drained]bool
	leases  map[string]*lease
}

// grantOf is whose grant of which pool.
type grantOf struct{ scheduler, resource, pool string }

type revision struct {
	grantOf
	revision int64
}

type drained struct {
	scheduler, cluster string
	revision           int64
}

// lease is who holds one until when, and when one of its holders had lost it last.
type lease struct {
	holder string
	until  time.Time
	lapsed time.Time
}

// NewHandover returns one that has seen nothing yet.
func NewHandover() *Handover {
	return &Handover{
		limits: map[revision]int64{}, most: map[grantOf]int64{}, drained: map[drained]bool{}, leases: map[string]*lease{},
	}
}

// SawLease notes a lease that was written.
func (h *Handover) SawLease(l *coordinationv1.Lease, now time.Time) {
	known, holder := h.leases[l.Name], ""
	if l.Spec.HolderIdentity != nil {
		holder = *l.Spec.HolderIdentity
	}
	switch {
	case known == nil:
		known = &lease{}
		h.leases[l.Name] = known
	case known.holder != holder || !now.Before(known.until):
		known.lapsed = now
	}
	known.holder, known.until = holder, time.Time{}
	if holder != "" && l.Spec.RenewTime != nil && l.Spec.LeaseDurationSeconds != nil {
		known.until = l.Spec.RenewTime.Add(time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second)
	}
}

// Holds reports whether somebody holds a lease.
func (h *Handover) Holds(name, holder string, now time.Time) bool {
	known := h.leases[name]
	return known != nil && known.holder == holder && now.Before(known.until)
}

// steady reports whether one process of a Scheduler has held its lease for so long that nobody can
// have decided otherwise.
func (h *Handover) steady(scheduler string, now time.Time) bool {
	known := h.leases[berthv1alpha1.DefaultLeasePrefix+scheduler]
	return known != nil && known.holder != "" && known.holder != state.LeaseTaker && now.Before(known.until) && now.Sub(known.lapsed) > Settled
}

// SawScheduler notes what a Scheduler acknowledges.
func (h *Handover) SawScheduler(s *berthv1alpha1.Scheduler) {
	for _, d := range s.Status.Drained {
		h.drained[drained{s.Name, d.Cluster, d.Revision}] = true
	}
	if s.Status.Spending == nil {
		return
	}
	for i := range s.Status.Spending.Pools {
		said := &s.Status.Spending.Pools[i]
		if said.Limit == nil {
			continue
		}
		whose := grantOf{s.Name, said.Resource, said.Pool}
		under, limit := revision{whose, said.Revision}, said.Limit.Value()
		if before, known := h.limits[under]; !known || limit < before {
			h.limits[under] = limit
		}
		h.most[whose] = max(h.most[whose], limit)
	}
}

// JudgeHome returns what is wrong with a Cluster that was changed: nil, or that its Scheduler did
// not give it up.
func (h *Handover) JudgeHome(before, after *berthv1alpha1.Cluster, now time.Time) error {
	home := before.Status.HomeScheduler
	if home == "" || home == after.Status.HomeScheduler || !h.steady(home, now) ||
		h.drained[drained{home, before.Name, before.Status.HomeRevision}] {
		return nil
	}
	return fmt.Errorf("cluster %s is taken from %s, which has not acknowledged revision %d",
		before.Name, home, before.Status.HomeRevision)
}

// JudgeBinding returns what is wrong with a Binding of a Scheduler to a node of a Cluster: nil, or
// that the Cluster is another one's, or given up.
func (h *Handover) JudgeBinding(scheduler string, cluster *berthv1alpha1.Cluster, now time.Time) error {
	home := cluster.Status.HomeScheduler
	switch {
	case !h.steady(scheduler, now):
		return nil // its successor knows what may still arrive
	case home == "":
		return nil // Schedulers that know of no other one place pods everywhere
	case home != scheduler:
		return fmt.Errorf("%s binds a pod to a node of cluster %s, which %q has", scheduler, cluster.Name, home)
	case h.drained[drained{scheduler, cluster.Name, cluster.Status.HomeRevision}]:
		return fmt.Errorf("%s binds a pod to a node of cluster %s, which it has given up", scheduler, cluster.Name)
	}
	return nil
}

// Pools is what is known of the pools of a ClusterResource when its grants are changed.
type Pools struct {
	// Resource is its name.
	Resource string
	// Held returns what pods hold of a pool, by the Scheduler out of whose grant.
	Held func(pool string) map[string]int64
	// Most returns what a pool has.
	Most func(pool string) int64
}

// JudgeGrants returns what is wrong with the grants of a ClusterResource that were changed: nil,
// that a Scheduler was made to have less than it may have charged, or that one has more of what is
// not free.
func (h *Handover) JudgeGrants(p *Pools, before, after []berthv1alpha1.PoolGrant, now time.Time) error {
	was, is := byPool(before), byPool(after)
	for pool, grants := range was {
		for scheduler, g := range grants {
			whose := grantOf{scheduler, p.Resource, pool}
			if err := h.judgeLess(whose, g, units(is[pool][scheduler]), now); err != nil {
				return err
			}
		}
	}
	for pool, grants := range is {
		sum, most := committed(grants, p.Held(pool)), p.Most(pool)
		for scheduler, g := range grants {
			more := units(g)
			if sum > most && more > units(was[pool][scheduler]) && more > h.most[grantOf{scheduler, p.Resource, pool}] {
				return fmt.Errorf("the grant of %s to %s grows to %d, but of %d units %d are granted or held", pool, scheduler, more, most, sum)
			}
		}
	}
	return nil
}

// JudgeCharge returns what is wrong after a Scheduler has charged something of a pool of which its
// pods hold so much now: nil, or that this is more than it was granted. While nothing of the pool
// is granted to anybody there is one Scheduler, which may charge everything.
func (h *Handover) JudgeCharge(pool, scheduler string, held int64, grants []berthv1alpha1.PoolGrant, now time.Time) error {
	granted := byPool(grants)[pool]
	if len(granted) == 0 || held <= units(granted[scheduler]) || !h.steady(scheduler, now) {
		return nil
	}
	return fmt.Errorf("the pods of %s hold %d of pool %s, of which it was granted %d", scheduler, held, pool, units(granted[scheduler]))
}

// judgeLess returns what is wrong with a grant that becomes what is given.
func (h *Handover) judgeLess(whose grantOf, g *berthv1alpha1.PoolGrant, becomes int64, now time.Time) error {
	acknowledged, said := h.limits[revision{whose, g.Revision}]
	if becomes >= units(g) || said && becomes >= acknowledged || !h.steady(whose.scheduler, now) {
		return nil
	}
	return fmt.Errorf("the grant of %s to %s goes from %d to %d, without an acknowledgement of revision %d",
		whose.pool, whose.scheduler, units(g), becomes, g.Revision)
}

func byPool(list []berthv1alpha1.PoolGrant) map[string]map[string]*berthv1alpha1.PoolGrant {
	found := map[string]map[string]*berthv1alpha1.PoolGrant{}
	for i := range list {
		g := &list[i]
		if found[g.Pool] == nil {
			found[g.Pool] = map[string]*berthv1alpha1.PoolGrant{}
		}
		found[g.Pool][g.Scheduler] = g
	}
	return found
}

func units(g *berthv1alpha1.PoolGrant) int64 {
	if g == nil {
		return 0
	}
	return g.Quantity.Value()
}

// committed returns what nobody else may have: of each the larger of what it was granted and what
// its pods hold.
func committed(grants map[string]*berthv1alpha1.PoolGrant, held map[string]int64) int64 {
	sum := int64(0)
	for scheduler, g := range grants {
		sum += max(units(g), held[scheduler])
	}
	for scheduler, quantity := range held {
		if grants[scheduler] == nil {
			sum += quantity
		}
	}
	return sum
}

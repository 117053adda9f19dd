// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package spending

import (
	"cmp"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/charges"
	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/internal/catalog"
	"berth.dev/berth/pkg/plugins/internal/waitlist"
)

// maxReported bounds the pools that a Scheduler reports on.
const maxReported = 5000

// statement returns what there is to report. What may be given out has been set before, so nothing
// is charged meanwhile that is not in it.
func (p *Spender) statement(homes *catalog.Homes, resources *catalog.Resources) *berthv1alpha1.Spending {
	account, underWay := p.ownAccount()
	reported := map[pool.Key]*berthv1alpha1.PoolSpending{}
	of := func(key pool.Key) *berthv1alpha1.PoolSpending {
		if reported[key] == nil {
			reported[key] = &berthv1alpha1.PoolSpending{Resource: key.Resource, Pool: key.Pool}
		}
		return reported[key]
	}
	wishes, late := p.Demand.Wishes(), p.late(resources)
	resources.Each(func(name string, r *catalog.Resource) {
		if r.Pools == nil || r.GrantsRevision < p.floors[r.UID] {
			return
		}
		p.answers(name, r, account, late, of)
		for i := range r.Pools.Pools() {
			key := pool.Key{Resource: name, Pool: r.Pools.Pools()[i].Name}
			if w := wishes[key]; len(w) > 0 && !homes.Leaving {
				describe(of(key), w, r.Pools.Unit())
			}
		}
	})
	spending := &berthv1alpha1.Spending{Closed: homes.Leaving && !underWay && len(late) == 0}
	for _, s := range reported {
		spending.Pools = append(spending.Pools, *s)
	}
	slices.SortFunc(spending.Pools, func(a, b berthv1alpha1.PoolSpending) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Pool, b.Pool))
	})
	spending.Pools = spending.Pools[:min(len(spending.Pools), maxReported)]
	return spending
}

// answers acknowledges the grants of a ClusterResource that are to shrink, and reports where more
// is held than was granted: by pods from the time when this scheduler was the only one. It does not
// acknowledge anything yet of a pool from which Bindings of the process before may still take.
func (p *Spender) answers(
	name string, r *catalog.Resource, account *pool.Account, late map[pool.Key]int64,
	of func(pool.Key) *berthv1alpha1.PoolSpending,
) {
	unit := r.Pools.Unit()
	granted := map[string]bool{}
	for i := range r.Grants {
		g := &r.Grants[i]
		if g.Scheduler != p.Grants.Self() {
			continue
		}
		granted[g.Pool] = true
		if g.ShrinkTo != nil && late[pool.Key{Resource: name, Pool: g.Pool}] > 0 {
			continue
		}
		held, _ := account.Held(name, g.Pool)
		limit := pool.UnitsUp(held, unit)
		if g.ShrinkTo == nil && limit <= wholeUnits(g.Quantity, unit) {
			continue
		}
		if g.ShrinkTo != nil {
			limit = max(limit, wholeUnits(*g.ShrinkTo, unit))
		}
		s := of(pool.Key{Resource: name, Pool: g.Pool})
		s.Revision, s.Limit = g.Revision, amount(limit, unit)
	}
	for _, poolName := range account.Pools(name) {
		if held, _ := account.Held(name, poolName); !granted[poolName] {
			of(pool.Key{Resource: name, Pool: poolName}).Limit = amount(pool.UnitsUp(held, unit), unit)
		}
	}
}

// late returns what Bindings of the process before may still take.
func (p *Spender) late(resources *catalog.Resources) map[pool.Key]int64 {
	return p.Late.withheld(func(name string) *pool.Resource {
		if r := resources.Get(name); r != nil && r.Err == nil {
			return r.Pools
		}
		return nil
	})
}

// ownAccount returns what pods hold out of the grant of this process, and whether some of them are
// being bound.
func (p *Spender) ownAccount() (account *pool.Account, underWay bool) {
	account = pool.NewAccount()
	// A pod that has been bound leaves what is pending only once the informer knows it, so of the
	// two reads this one comes first.
	pending := p.Pending.Of(p.Grants.Self())
	seen := map[types.UID]bool{}
	for _, pod := range p.Charged(p.Grants.Self()) {
		held, stamped := charges.Stamped(pod)
		if !stamped {
			continue
		}
		seen[pod.UID] = true
		account.Add(held)
	}
	for uid, charges := range pending {
		if !seen[uid] {
			underWay = true
			account.Add(charges)
		}
	}
	return account, underWay
}

// maxLower bounds the priorities of which a Scheduler says what pods want, besides the highest. The
// others come after these.
const maxLower = 8

// describe fills in what pods want.
func describe(s *berthv1alpha1.PoolSpending, wishes []waitlist.Wish, unit resource.Quantity) {
	short := slices.IndexFunc(wishes, func(w waitlist.Wish) bool { return w.Short })
	if short >= 0 {
		for _, w := range wishes[short:] {
			s.Next = append(s.Next, demandOf(w, unit))
		}
		wishes = wishes[:short]
	}
	if len(wishes) == 0 {
		return
	}
	first := wishes[0]
	s.Wanted, s.Least = amount(first.Wanted, unit), amount(first.Least, unit)
	s.Priority, s.Since = corev1helpers.PodPriority(first.First), &first.First.CreationTimestamp
	for _, w := range wishes[1:min(len(wishes), 1+maxLower)] {
		s.Lower = append(s.Lower, demandOf(w, unit))
	}
}

func demandOf(w waitlist.Wish, unit resource.Quantity) berthv1alpha1.PoolDemand {
	return berthv1alpha1.PoolDemand{
		Wanted: *amount(w.Wanted, unit), Least: *amount(w.Least, unit),
		Priority: corev1helpers.PodPriority(w.First), Since: w.First.CreationTimestamp,
	}
}

// amount returns a number of units as an amount, the largest there can be if it is more.
func amount(units int64, unit resource.Quantity) *resource.Quantity {
	quantity, _ := pool.Quantity(units, unit)
	return &quantity
}

// wholeUnits returns an amount as a number of units, rounded down.
func wholeUnits(quantity, unit resource.Quantity) int64 {
	units, err := pool.Units(quantity, unit)
	if errors.Is(err, pool.ErrTooFine) {
		return units - 1
	}
	return units
}

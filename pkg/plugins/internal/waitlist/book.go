// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package waitlist

import (
	"math"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"berth.dev/berth/pkg/placement/pool"
)

// Change counts what has become free. The zero value is before the first change.
type Change int64

// book is what is taken for free.
type book struct {
	newest Change
	stocks map[string]*stock
	// unseen are the additions of which no scheduling cycle is known to have counted them.
	unseen []addition
}

// stock is what is taken for free of a ClusterResource.
type stock struct {
	resource *pool.Resource
	// own is what is free within the grant of this process by pool, all what is in whosever grant.
	own, all []int64
	// found is when a scheduling cycle found it.
	found time.Time
	// changed is the newest change by pool.
	changed []Change
	// taken is what is not left for the pod that is looked at, while pods are chosen, and kept what
	// the earmarks kept when pods were chosen last.
	taken, kept []int64
}

// addition is what has become free since the latest cycle.
type addition struct {
	change Change
	// pod is the one that gave it back, empty for a grant that was raised.
	pod      types.UID
	resource string
	// pool is -1, and name that of the pool, as long as no cycle has found the ClusterResource.
	pool     int32
	name     string
	units    int64
	own, all bool
}

// Cycle is what a scheduling cycle knows of what is free.
type Cycle struct {
	// Began is the newest change when the cycle began.
	Began Change
	// Holds reports whether a pod holds something, as the cycle knows it.
	Holds func(pod types.UID) bool
}

// Found is what a scheduling cycle found left of each pool of a ClusterResource, in units.
type Found struct {
	// Resource is the ClusterResource.
	Resource *pool.Resource
	// Own is what is left within the grant of this process by pool, All what is in whosever grant.
	Own, All []int64
}

// observe takes over what a cycle found free, adds what it cannot have counted yet, and returns the
// oldest change that is to be added, the largest number if there is none.
func (b *book) observe(c *Cycle, f *Found) (missed Change) {
	s := b.stockOf(f)
	s.taken, s.own = s.own, s.taken // what was free before is compared with what is
	copy(s.own, f.Own)
	copy(s.all, f.All)
	missed = math.MaxInt64
	b.unseen = slices.DeleteFunc(b.unseen, func(a addition) bool {
		if a.resource != f.Resource.Name() {
			return false
		}
		if a.counted(c) || !a.resolve(f.Resource) {
			return true
		}
		s.add(&a)
		missed = min(missed, a.change)
		if a.own {
			s.changed[a.pool] = max(s.changed[a.pool], a.change)
		}
		return false
	})
	for i, free := range s.own {
		if free > s.taken[i] {
			b.newest++
			s.changed[i] = b.newest
		}
	}
	return missed
}

// stockOf returns what is known of a ClusterResource: that everything that was found has become
// free now, if nothing is.
func (b *book) stockOf(f *Found) *stock {
	r := f.Resource
	known := b.stocks[r.Name()]
	if known != nil && known.resource == r {
		return known
	}
	if b.stocks == nil {
		b.stocks = map[string]*stock{}
	}
	n := len(f.Own)
	added := &stock{
		resource: r, own: slices.Clone(f.Own), all: make([]int64, n), changed: make([]Change, n),
		taken: make([]int64, n), kept: make([]int64, n),
	}
	b.newest++
	for i := range added.changed {
		added.changed[i] = b.newest
	}
	if known != nil {
		b.forget(r.Name())
	}
	b.stocks[r.Name()] = added
	return added
}

// counted reports whether a cycle has counted the addition.
func (a *addition) counted(c *Cycle) bool {
	if a.pod == "" {
		return c.Began >= a.change
	}
	return !c.Holds(a.pod)
}

// resolve finds the pool of an addition from before the ClusterResource was found, and reports
// whether there is one.
func (a *addition) resolve(r *pool.Resource) (found bool) {
	if a.pool >= 0 {
		return true
	}
	a.pool, found = r.Index(a.name)
	return found
}

func (s *stock) add(a *addition) {
	if a.own {
		s.own[a.pool] = pool.AddUnits(s.own[a.pool], a.units)
	}
	if a.all {
		s.all[a.pool] = pool.AddUnits(s.all[a.pool], a.units)
	}
}

// release adds what a pod gave back.
func (b *book) release(pod types.UID, charges []pool.Charge, mine func(pool.Charge) bool) {
	b.each(charges, func(s *stock, at int32, units int64, c *pool.Charge) {
		b.add(s, &addition{pod: pod, resource: c.Resource, pool: at, units: units, own: mine(*c), all: true})
	})
}

// each visits the pools of charges that are known, with the units that were charged.
func (b *book) each(charges []pool.Charge, visit func(s *stock, at int32, units int64, c *pool.Charge)) {
	for i := range charges {
		c := &charges[i]
		s := b.stocks[c.Resource]
		if s == nil {
			continue
		}
		if at, found := s.resource.Index(c.Pool); found {
			visit(s, at, pool.UnitsUp(c.Quantity, s.resource.Unit()), c)
		}
	}
}

// raise adds what more may be given out of a pool.
func (b *book) raise(key pool.Key, units int64) {
	s := b.stocks[key.Resource]
	if s == nil {
		// A cycle may be under way that does not see it.
		b.newest++
		b.unseen = append(b.unseen, addition{
			change: b.newest, resource: key.Resource, pool: -1, name: key.Pool, units: units, own: true,
		})
		return
	}
	if at, found := s.resource.Index(key.Pool); found {
		b.add(s, &addition{resource: key.Resource, pool: at, units: units, own: true})
	}
}

// lift adds what is in the grants of others.
func (b *book) lift() {
	for name, s := range b.stocks {
		for i := range s.own {
			if more := pool.AddUnits(s.all[i], -s.own[i]); more > 0 {
				b.add(s, &addition{resource: name, pool: int32(i), units: more, own: true})
			}
		}
	}
}

func (b *book) add(s *stock, a *addition) {
	b.newest++
	a.change = b.newest
	s.add(a)
	if a.own {
		s.changed[a.pool] = a.change
	}
	b.unseen = append(b.unseen, *a)
}

// charge takes away what a pod was charged.
func (b *book) charge(pod types.UID, charges []pool.Charge) {
	// What it gave back before counts no longer, whether a cycle has seen that or not.
	b.unseen = slices.DeleteFunc(b.unseen, func(a addition) bool { return a.pod == pod })
	b.each(charges, func(s *stock, at int32, units int64, _ *pool.Charge) {
		s.own[at], s.all[at] = pool.AddUnits(s.own[at], -units), pool.AddUnits(s.all[at], -units)
	})
}

// forget drops what is taken for free of a ClusterResource.
func (b *book) forget(resource string) {
	delete(b.stocks, resource)
	b.unseen = slices.DeleteFunc(b.unseen, func(a addition) bool { return a.resource == resource })
}

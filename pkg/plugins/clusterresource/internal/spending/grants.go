// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package spending

import (
	"maps"
	"math"
	"sync"

	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/internal/catalog"
)

// Grants limit what a process gives out, if it is one of several schedulers, to what it was
// granted. It is safe for concurrent use.
type Grants struct {
	self string

	mu sync.RWMutex
	// limited is true while only what was granted may be given out: of each pool as many units as
	// caps has, of others nothing.
	limited bool
	caps    map[pool.Key]int64
	// tightened changes whenever less may be given out than before.
	tightened int64
}

// NewGrants returns those of the Scheduler of a name, which may give out nothing yet. With an empty
// name the process is no Scheduler; it has nothing to keep to and may give out everything.
func NewGrants(self string) *Grants {
	return &Grants{self: self, limited: self != "", caps: map[pool.Key]int64{}}
}

// Self returns the name of the Scheduler, empty for none.
func (g *Grants) Self() string {
	return g.self
}

// Allowance is what a scheduling cycle may give out.
type Allowance struct {
	// Limited is false if that is everything.
	Limited   bool
	tightened int64
	caps      map[pool.Key]int64
}

// Allowance returns what may be given out at present.
func (g *Grants) Allowance() Allowance {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return Allowance{Limited: g.limited, tightened: g.tightened, caps: g.caps} // caps are replaced, never changed
}

// Limit returns what this process may still give out of each pool, in units: what is free, but no
// more than is left of its grant. Held returns what pods hold of each pool out of the grant, in a
// slice of its own. Limit returns free itself if everything may be given out.
func (a Allowance) Limit(r *pool.Resource, held func(*pool.Resource) []int64, free []int64) []int64 {
	if !a.Limited {
		return free
	}
	own := held(r)
	for i := range own {
		left := a.caps[pool.Key{Resource: r.Name(), Pool: r.Pools()[i].Name}] - own[i]
		own[i] = min(left, free[i]) //nolint:gosec // both have a number for each pool of the resource
	}
	return own
}

// ChargeWithin calls charge and returns true, unless less may be given out than at the time of the
// allowance; then it returns false.
//
// The charge and the lowering of a limit exclude each other, so that a limit which was acknowledged
// is never exceeded. Suppose a cycle began with 3 units allowed, of which 2 are held, and the grant
// is to shrink to 2:
//   - the cycle charges the third unit first: set has to wait, the account that is made after it
//     has 3 held, and 3 is acknowledged;
//   - set comes first: ChargeWithin returns false, and 2 is acknowledged.
func (g *Grants) ChargeWithin(a Allowance, charge func()) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.tightened != a.tightened {
		return false
	}
	charge()
	return true
}

// addCaps adds what a Scheduler may give out of the pools of a ClusterResource, which are usable.
func addCaps(self, name string, r *catalog.Resource, caps map[pool.Key]int64) {
	for i := range r.Grants {
		g := &r.Grants[i]
		if g.Scheduler != self {
			continue
		}
		units := wholeUnits(g.Quantity, r.Pools.Unit())
		if g.ShrinkTo != nil {
			units = min(units, wholeUnits(*g.ShrinkTo, r.Pools.Unit()))
		}
		caps[pool.Key{Resource: name, Pool: g.Pool}] = units
	}
}

// ActAs makes a process that decides on objects at hand, and shares with nobody, one that keeps to
// what the Scheduler of the name was granted; an empty name lifts that. Of a ClusterResource of
// which nobody was granted anything it may give out all. It must not be called while pods are
// placed.
func (g *Grants) ActAs(self string, resources *catalog.Resources) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.self, g.limited, g.caps = self, self != "", map[pool.Key]int64{}
	if self == "" {
		return
	}
	resources.Each(func(name string, r *catalog.Resource) {
		if r.Pools == nil {
			return
		}
		if len(r.Grants) > 0 {
			addCaps(self, name, r, g.caps)
			return
		}
		for _, p := range r.Pools.Pools() {
			g.caps[pool.Key{Resource: name, Pool: p.Name}] = math.MaxInt64
		}
	})
}

// Mine reports whether what a charge gives back can be given out again by this process.
func (g *Grants) Mine(c pool.Charge) bool {
	if g.self == "" {
		return true
	}
	g.mu.RLock()
	defer g.mu.RUnlock()
	return !g.limited || c.Grantee == g.self
}

// Lift lets everything be given out.
func (g *Grants) Lift() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.limited = false
}

// set limits what may be given out, and returns by how many units that is more of each pool than
// before. Once it has returned, nothing can be charged by an older allowance that is larger.
func (g *Grants) set(caps map[pool.Key]int64) (raised map[pool.Key]int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	before := g.caps
	if g.limited && maps.Equal(before, caps) {
		return nil
	}
	less := !g.limited
	for key, units := range before {
		less = less || caps[key] < units
	}
	if less {
		g.tightened++
	}
	raised = map[pool.Key]int64{}
	for key, units := range caps {
		if more := units - before[key]; more > 0 {
			raised[key] = more
		}
	}
	g.limited, g.caps = true, caps
	return raised
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package grants decides how much of a pool of a ClusterResource each of several schedulers may
// charge. Nobody checks a licence after the scheduler, so no two may spend the same unit: all
// grants together are never more than there is.
//
// Two write. The controller records a Grant for each scheduler in the status of the
// ClusterResource; a scheduler answers with a Report in its own status. A Report counts for the
// Grant of its Revision only.
//
//	Grant                       the scheduler                     until
//	Quantity 5                  charges up to 5                   pods wait elsewhere, it leaves,
//	                                                              or the pool becomes smaller
//	Quantity 5, Shrinking       charges nothing beyond 2, and     its Report acknowledges
//	to Target 2                 keeps what its pods hold already
//	none                        charges nothing                   it wants something and there is
//	                                                              room
//
//	Report                      its meaning
//	Demands                     Pods wait. Those of one Priority ask for Wanted units altogether,
//	                            and Least would serve one of them; Priority and Since tell whose
//	                            turn it is.
//	Acknowledges, Limit 3       The Grant that shrinks has been seen. Pods hold, or will hold, 3
//	                            units and never more under this Revision: the rest is free.
//	Acknowledges, Limit 7       Pods hold 7 units, more than was ever granted: the scheduler was
//	of 5                        the only one when it bound them.
//
// A unit moves in three steps, between which each program may be restarted:
// the Grant shrinks; the scheduler acknowledges; another Grant grows. Of a scheduler that has died
// the second step is made for it, once no process of it can charge anything and its pods are
// counted: it is Settled. Standing and Roles decide when that is so.
//
// The package knows no clients and no clock. One step leads from what is recorded and reported to
// what is to be recorded next; it may be made at any time, by whoever, and made again.
package grants

import (
	"cmp"
	"maps"
	"slices"

	"berth.dev/berth/pkg/placement/pool"
)

// Grant is what a scheduler may have given out of a pool, in units.
type Grant struct {
	// Quantity is the grant. What the pods hold that the scheduler has placed counts.
	Quantity int64
	// Shrinking is true while the scheduler is asked to charge nothing beyond Target, which is less
	// than Quantity.
	Shrinking bool
	Target    int64
	// Revision tells this state of the grant from earlier ones.
	Revision int64
}

// ceiling returns the most that the scheduler may charge.
func (g Grant) ceiling() int64 {
	if g.Shrinking {
		return min(g.Quantity, g.Target)
	}
	return g.Quantity
}

// Grantee is a scheduler as the grants see it.
type Grantee struct {
	// Takes is true if it may be granted something: it runs, keeps to its grants, and is not being
	// deleted.
	Takes bool
	// Leaving is true while it is being deleted and is to give everything back.
	Leaving bool
	// Settled is true if it is certain that it charges nothing any more, and that Held has all that
	// its pods hold.
	Settled bool
}

// Report is what a scheduler says of its grant of a pool.
type Report struct {
	// Revision is that of the grant of which it speaks, 0 if there is none.
	Revision int64
	// Limit is what its pods hold or, if that is more, Target: it holds no more under this
	// revision. It counts if Acknowledges is true.
	Limit        int64
	Acknowledges bool
	// Demands are what pods that wait ask for, one for each priority and some that are Short, in
	// any order.
	Demands []Demand
}

// Demand is what pods that wait and have one priority ask for.
type Demand struct {
	// Wanted is what they ask for altogether, and Least the smallest amount that serves one of them.
	Wanted, Least int64
	// Priority is theirs, and Since when the first of them was made. They tell whose turn it is:
	// higher first, then smaller.
	Priority int32
	Since    int64
	// Short is true of a pod that the scheduler saw nothing left for. It takes from a scheduler only
	// if none of its pods that wait has the same or a higher priority: these may be about to take
	// it.
	Short bool
}

// SharedPool is what is recorded of a pool, and what schedulers say of it.
type SharedPool struct {
	// Allocatable is how many units pods may hold together.
	Allocatable int64
	// Grants are recorded, by scheduler.
	Grants map[string]Grant
	// Held is what pods are known to hold, by the scheduler out of whose grant; of those without
	// one by the empty name. More may be held out of the grant of a scheduler that is not settled.
	Held map[string]int64
	// Reports are by scheduler.
	Reports map[string]Report
}

// Next returns the grants that are to be recorded next. Those that change get the given revision,
// which must be larger than any before; the others are as they were, so that nothing needs to be
// written if the result equals Grants. It depends on nothing but its arguments.
//
// Nobody may be granted anything while a scheduler runs that does not keep to its grants; Takes
// must be false for all then.
func Next(p SharedPool, schedulers map[string]Grantee, revision int64) map[string]Grant {
	s := newStep(p, schedulers)
	s.shrink()
	s.serve()
	return s.result(revision)
}

// share is a scheduler during a step.
type share struct {
	name   string
	before Grant
	// quantity and cap are those of the grant to be; cap is less while it shrinks.
	quantity, cap int64
	held          int64
	report        Report
	takes         bool
	leaving       bool
	// acknowledged is true if the scheduler has answered and cannot give back more now.
	acknowledged bool
	// spare may be taken away for others.
	spare int64
	// top is the highest priority of the pods that wait, below all if none does.
	top int64
}

// yields returns how much may be taken from a scheduler to meet a demand of another one.
func (sh *share) yields(d Demand) int64 {
	if d.Short && sh.top >= int64(d.Priority) {
		return 0
	}
	return sh.spare
}

// step is one call of Next.
type step struct {
	shares []*share
	// room is what nobody was granted and nobody holds; less than 0 if too much is. Coming is what
	// schedulers were asked to give back and have not answered.
	room, coming int64
}

func newStep(p SharedPool, schedulers map[string]Grantee) *step {
	s := &step{room: p.Allocatable}
	names := slices.Collect(maps.Keys(p.Grants))
	names = slices.AppendSeq(slices.AppendSeq(names, maps.Keys(p.Held)), maps.Keys(p.Reports))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		sh := newShare(name, &p, schedulers[name])
		s.shares = append(s.shares, sh)
		s.room = pool.AddUnits(s.room, -sh.committed())
	}
	return s
}

func newShare(name string, p *SharedPool, known Grantee) *share {
	g, granted := p.Grants[name]
	sh := &share{
		name: name, before: g, quantity: g.Quantity, cap: g.ceiling(), held: max(0, p.Held[name]), report: p.Reports[name],
		takes: known.Takes && !known.Leaving, leaving: known.Leaving,
	}
	if known.Settled {
		sh.quantity, sh.cap, sh.takes = 0, 0, false
		return sh
	}
	if !sh.report.Acknowledges || sh.report.Revision != g.Revision || !granted && sh.report.Revision != 0 {
		sh.report.Limit = 0
	} else if g.Shrinking {
		// It keeps what it has left, unless that is asked for again.
		if sh.report.Limit > sh.cap {
			sh.held = max(sh.held, sh.report.Limit)
		}
		sh.quantity, sh.acknowledged = min(sh.quantity, max(sh.report.Limit, sh.cap)), true
		sh.cap = sh.quantity
	}
	if sh.takes || sh.leaving {
		// What it holds already is a fact, whatever it was granted.
		if fact := min(sh.report.Limit, p.Allocatable); fact > sh.quantity {
			sh.quantity, sh.cap, sh.held = fact, fact, max(sh.held, fact)
		}
	}
	return sh
}

// committed is what nobody else may be granted.
func (sh *share) committed() int64 {
	return max(sh.quantity, sh.held)
}

// shrink asks those who leave for everything, and all for what is too much: first for what they do
// not need.
func (s *step) shrink() {
	excess := pool.Short(s.room, 0)
	for _, sh := range s.shares {
		if sh.leaving {
			sh.cap = 0
		}
		if !sh.acknowledged {
			excess = pool.AddUnits(excess, sh.cap-sh.quantity)
		}
	}
	bySize := slices.Clone(s.shares)
	for _, size := range []func(*share) int64{
		func(sh *share) int64 { return max(0, sh.cap-sh.held) },
		func(sh *share) int64 { return sh.cap },
	} {
		slices.SortStableFunc(bySize, func(a, b *share) int { return cmp.Compare(size(b), size(a)) })
		for _, sh := range bySize {
			cut := max(0, min(excess, size(sh)))
			sh.cap -= cut
			excess -= cut
		}
	}
	for _, sh := range s.shares {
		if !sh.acknowledged || sh.quantity != sh.before.Quantity || sh.cap != sh.before.ceiling() {
			s.coming = pool.AddUnits(s.coming, sh.quantity-sh.cap)
		}
	}
}

// result returns the grants to be recorded.
func (s *step) result(revision int64) map[string]Grant {
	next := map[string]Grant{}
	for _, sh := range s.shares {
		if sh.quantity <= 0 {
			continue
		}
		g := Grant{Quantity: sh.quantity, Revision: sh.before.Revision}
		if sh.cap < sh.quantity {
			g.Shrinking, g.Target = true, max(0, sh.cap)
		}
		if g != sh.before {
			g.Revision = revision
		}
		next[sh.name] = g
	}
	return next
}

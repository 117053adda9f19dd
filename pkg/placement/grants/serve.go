// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grants

import (
	"cmp"
	"math"
	"slices"

	"berth.dev/berth/pkg/placement/pool"
)

// serve grants what there is to those for whom pods wait, one after the other, and asks others for
// what these do not need. A pod whose turn comes first keeps what is there for it; one that all
// there is cannot serve keeps nothing.
func (s *step) serve() {
	// What is too much is made up for first.
	s.coming = max(0, pool.AddUnits(s.coming, min(0, s.room)))
	s.room = max(0, s.room)
	var waiting []claim
	for _, sh := range s.shares {
		if !sh.takes {
			continue
		}
		sh.spare, sh.top = max(0, sh.cap-sh.held), math.MinInt64
		for _, d := range sh.report.Demands {
			if d.Wanted > 0 {
				sh.top = max(sh.top, int64(d.Priority))
				waiting = append(waiting, claim{sh, d})
			}
		}
	}
	slices.SortStableFunc(waiting, func(a, b claim) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Since, b.Since))
	})
	for _, c := range waiting {
		s.grant(c.share, c.Demand)
	}
}

// claim is a demand and whose it is.
type claim struct {
	*share
	Demand
}

// grant serves a scheduler whose pods of one priority wait.
func (s *step) grant(sh *share, d Demand) {
	free := sh.spare
	need := d.Wanted - free
	if need <= 0 {
		sh.spare -= d.Wanted
		return
	}
	available := pool.AddUnits(s.room, s.coming)
	for _, other := range s.shares {
		if other != sh {
			available = pool.AddUnits(available, other.yields(d))
		}
	}
	if pool.AddUnits(free, max(0, available)) < d.Least {
		return
	}
	sh.spare = 0 // what it has serves some of its pods at least
	if available <= 0 {
		return
	}
	// What it holds nobody else can have.
	lacks := max(0, sh.held-sh.quantity)
	sh.quantity += lacks
	sh.cap += lacks
	rest := min(need, available)
	rest -= s.restore(sh, rest)
	fromRoom := min(rest, s.room)
	sh.quantity += fromRoom
	sh.cap += fromRoom
	s.room -= fromRoom
	rest -= fromRoom
	onTheWay := min(rest, s.coming)
	s.coming -= onTheWay
	s.reclaim(rest-onTheWay, d)
}

// restore lets a scheduler keep what it was asked to give back, and returns how much.
func (s *step) restore(sh *share, units int64) int64 {
	back := max(0, min(units, sh.quantity-sh.cap, s.coming))
	sh.cap += back
	s.coming -= back
	return back
}

// reclaim asks for what is not needed, those first that have most of it. It is on its way to the
// one for whom it is taken, who has nothing to spare.
func (s *step) reclaim(units int64, d Demand) {
	others := slices.Clone(s.shares)
	slices.SortStableFunc(others, func(a, b *share) int { return cmp.Compare(b.yields(d), a.yields(d)) })
	for _, other := range others {
		taken := min(units, other.yields(d))
		other.spare -= taken
		other.cap -= taken
		units -= taken
	}
}

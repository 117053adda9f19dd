// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/clusterresource/internal/spending"
	"berth.dev/berth/pkg/plugins/internal/cyclestate"
	"berth.dev/berth/pkg/plugins/internal/waitlist"
)

const stateKey fwk.StateKey = "PreFilter" + Name

// state is what PreFilter found out for one scheduling cycle.
type state struct {
	claims []claim
	// moved are the charges that AddPod and RemovePod changed, by pod.
	moved map[types.UID]bool
	// cycle is what the cycle knows of what is free, and seen the newest change that it has seen.
	cycle waitlist.Cycle
	seen  waitlist.Change
	// allowed is what this process might give out when the cycle began.
	allowed spending.Allowance
	// scores are those of each claim by site, once PreScore has compared the feasible nodes.
	scores []map[int32]int64

	narrowed bool // Filter is asked about nodes that can meet the claims only
	sampled  bool // and not about all of these
	result   fwk.PreFilterResult
	entry    cyclestate.Entry
}

// claim is one request of the pod and what there is to meet it.
type claim struct {
	request pool.Request
	units   int64
	places  *pool.Places
	free    []int64 // by pool, within the grant
	all     []int64 // by pool, in whosever grant
	grants  *spending.Grants
	verdict []verdict // by site
	why     *rejections
}

// verdict reports whether the nodes of a site can meet a claim.
type verdict uint8

const (
	admitted verdict = iota
	ungranted
	usedUp
	tooSmall
	noPool
)

// setVerdicts fills in the verdicts.
func (c *claim) setVerdicts() {
	r := c.places.Resource()
	free := c.left
	for site := range c.verdict {
		pools := c.places.Pools(int32(site))
		switch {
		case len(pools) == 0:
			c.verdict[site] = noPool
		case r.Admits(pools, free, c.units):
			c.verdict[site] = admitted
		case r.Admits(pools, c.leftOfAll, c.units):
			c.verdict[site] = ungranted
		case r.Suffices(pools, c.units):
			c.verdict[site] = usedUp
		default:
			c.verdict[site] = tooSmall
		}
	}
}

// left returns the free units of a pool.
func (c *claim) left(i int32) int64 {
	return c.free[i]
}

// leftOfAll returns the free units of a pool, in whosever grant they are.
func (c *claim) leftOfAll(i int32) int64 {
	return c.all[i]
}

// at returns the verdict on a node.
func (c *claim) at(node string) verdict {
	site, known := c.places.SiteOf(node)
	if !known {
		return noPool
	}
	return c.verdict[site]
}

// rejections are the reasons for which a claim rejects nodes. They are made once: thousands of
// nodes may be told.
type rejections [noPool + 1]string

func rejectionsOf(resource string) *rejections {
	return &rejections{
		usedUp: fmt.Sprintf(errReasonUsedUp, resource), ungranted: fmt.Sprintf(errReasonUngranted, resource),
		tooSmall: fmt.Sprintf(errReasonTooSmall, resource),
		noPool:   fmt.Sprintf(errReasonNoPool, resource),
	}
}

// status says why a node cannot meet the claim, nil if it can. Evicting pods helps only where the
// pools would suffice.
func (c *claim) status(v verdict) *fwk.Status {
	switch v {
	case admitted:
		return nil
	case usedUp, ungranted:
		return fwk.NewStatus(fwk.Unschedulable, c.why[v])
	default:
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, c.why[v])
	}
}

// book adds the charges to what is free of the claim's resource, or takes them away with a negative
// sign, and reports whether that changed anything. What another scheduler charged does not come
// back to this one.
func (c *claim) book(charges []pool.Charge, sign int64) bool {
	changed := false
	r := c.places.Resource()
	for _, charge := range charges {
		if charge.Resource != r.Name() {
			continue
		}
		if i, found := r.Index(charge.Pool); found {
			units := sign * pool.UnitsUp(charge.Quantity, r.Unit())
			shared := c.shared()
			c.all[i] = pool.AddUnits(c.all[i], units)
			if !shared && (sign < 0 || c.grants.Mine(charge)) {
				c.free[i] = pool.AddUnits(c.free[i], units)
			}
			changed = true
		}
	}
	return changed
}

// shared reports whether everything may be given out, so that what is free is counted once.
func (c *claim) shared() bool {
	return len(c.free) > 0 && &c.free[0] == &c.all[0]
}

// book adds charges to what is free for all claims, or takes them away, and judges anew.
func (s *state) book(charges []pool.Charge, sign int64) {
	for i := range s.claims {
		if c := &s.claims[i]; c.book(charges, sign) {
			c.setVerdicts()
		}
	}
}

// Clone copies what AddPod and RemovePod change; everything else is read only after PreFilter.
func (s *state) Clone() fwk.StateData {
	clone := &state{
		claims: slices.Clone(s.claims), moved: maps.Clone(s.moved), scores: s.scores, narrowed: s.narrowed, sampled: s.sampled,
	}
	for i := range clone.claims {
		c := &clone.claims[i]
		shared := c.shared()
		c.free, c.verdict = slices.Clone(c.free), slices.Clone(c.verdict)
		if c.all = c.free; !shared {
			c.all = slices.Clone(s.claims[i].all)
		}
	}
	return clone
}

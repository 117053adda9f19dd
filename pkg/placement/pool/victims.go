// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"cmp"
	"math/bits"
	"slices"
	"time"
)

// Lack is what one claim of a pod needs at a site beyond what is free.
type Lack struct {
	// AllOf says that every pool must have enough, rather than one.
	AllOf bool
	// Pools are those of the site.
	Pools []int32
	// Short is, for each of Pools, how many units it needs more; 0 or less if it has enough.
	Short []int64
}

// Holder is a pod that could make way.
type Holder struct {
	// Priority of the pod.
	Priority int32
	// Started is when it started; of equal pods the younger goes.
	Started time.Time
	// Budgets are the disruption budgets that it counts against, as indexes.
	Budgets []int
	// Frees is what it would give back.
	Frees []Freed
}

// Freed is what a pod would give back to a pool of a claim.
type Freed struct {
	// Claim is the index of the Lack.
	Claim int
	// Pool is the index of the pool.
	Pool int32
	// Units is how much.
	Units int64
}

// exactUpTo is the number of candidates up to which every set of them is considered.
const exactUpTo = 12

// Victims returns, as ascending indexes, the candidates that should make way so that nothing is
// lacking, and false if all of them together would not do. No victim can be spared. The set
// violates as few disruption budgets as possible, is then as small as possible, then of the lowest
// priorities, then the youngest; with more than a dozen candidates that hold different amounts it
// may miss the best by this measure. Allowed tells how many disruptions each budget allows.
func Victims(lacks []Lack, candidates []Holder, allowed []int32) ([]int, bool) {
	s := &search{lacks: lacks, candidates: candidates, allowed: allowed}
	for i := range candidates {
		if s.useful(i) {
			s.relevant = append(s.relevant, i)
		}
	}
	if !s.covered(s.relevant) {
		return nil, false
	}
	if len(s.relevant) <= exactUpTo {
		return s.exact(), true
	}
	return s.greedy(), true
}

type search struct {
	lacks      []Lack
	candidates []Holder
	allowed    []int32
	relevant   []int
}

// useful reports whether a candidate gives back something of which there is too little.
func (s *search) useful(i int) bool {
	return s.contribution(i) > 0
}

// contribution is how much of what is lacking a candidate gives back, as the sum of the shares of
// each pool's lack.
func (s *search) contribution(i int) float64 {
	var sum float64
	for _, freed := range s.candidates[i].Frees {
		lack := &s.lacks[freed.Claim]
		at := slices.Index(lack.Pools, freed.Pool)
		if at < 0 || lack.Short[at] <= 0 {
			continue
		}
		short := lack.Short[at]
		sum += float64(min(freed.Units, short)) / float64(short)
	}
	return sum
}

// covered reports whether nothing is lacking once the pods of the set have gone.
func (s *search) covered(set []int) bool {
	for claim := range s.lacks {
		if !s.claimCovered(claim, set) {
			return false
		}
	}
	return true
}

func (s *search) claimCovered(claim int, set []int) bool {
	lack := &s.lacks[claim]
	for n, pool := range lack.Pools {
		short := lack.Short[n]
		for _, i := range set {
			for _, freed := range s.candidates[i].Frees {
				if freed.Claim == claim && freed.Pool == pool {
					short = AddUnits(short, -freed.Units)
				}
			}
		}
		if enough := short <= 0; enough != lack.AllOf {
			return enough
		}
	}
	return lack.AllOf && len(lack.Pools) > 0
}

// exact considers every set.
func (s *search) exact() []int {
	var best []int
	var cost Cost
	for mask := range uint(1) << len(s.relevant) {
		set := make([]int, 0, bits.OnesCount(mask))
		for n, i := range s.relevant {
			if mask&(1<<n) != 0 {
				set = append(set, i)
			}
		}
		if !s.covered(set) {
			continue
		}
		if c := s.cost(set); best == nil || c.Compare(cost) < 0 {
			best, cost = set, c
		}
	}
	return best
}

// greedy takes those that give back most until it is enough, spares whom it can, and then exchanges
// victims for cheaper ones.
func (s *search) greedy() []int {
	byWorth := slices.Clone(s.relevant)
	slices.SortStableFunc(byWorth, func(a, b int) int {
		return cmp.Or(
			cmp.Compare(s.cost([]int{a}).violations, s.cost([]int{b}).violations),
			cmp.Compare(s.contribution(b), s.contribution(a)),
			s.cost([]int{a}).Compare(s.cost([]int{b})),
		)
	})
	var set []int
	for _, i := range byWorth {
		if s.covered(set) {
			break
		}
		set = append(set, i)
	}
	// A cheaper one may give back more, so that another need not go.
	set = s.spare(s.exchange(s.spare(set), byWorth))
	slices.Sort(set)
	return set
}

// spare leaves out, the most important first, whom it need not be.
func (s *search) spare(set []int) []int {
	slices.SortFunc(set, func(a, b int) int { return s.cost([]int{b}).Compare(s.cost([]int{a})) })
	for n := 0; n < len(set); {
		if rest := slices.Delete(slices.Clone(set), n, n+1); s.covered(rest) {
			set = rest
		} else {
			n++
		}
	}
	return set
}

// exchange replaces each victim by the cheapest candidate that does as well.
func (s *search) exchange(set, others []int) []int {
	byCost := slices.Clone(others)
	slices.SortStableFunc(byCost, func(a, b int) int { return s.cost([]int{a}).Compare(s.cost([]int{b})) })
	for n := range set {
		for _, i := range byCost {
			if s.cost([]int{i}).Compare(s.cost(set[n:n+1])) >= 0 {
				break
			}
			trial := slices.Clone(set)
			trial[n] = i
			if !slices.Contains(set, i) && s.covered(trial) {
				set = trial
			}
		}
	}
	return set
}

func (s *search) cost(set []int) Cost {
	pods := make([]*Holder, len(set))
	for n, i := range set {
		pods[n] = &s.candidates[i]
	}
	return CostOf(pods, s.allowed)
}

// ByImportance returns the indexes of the candidates, the most important first: the one of the
// highest priority, of equal ones the one that started first. In this order those are reprieved
// that need not make way.
func ByImportance(candidates []Holder) []int {
	order := make([]int, len(candidates))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &candidates[a], &candidates[b]
		return cmp.Or(cmp.Compare(y.Priority, x.Priority), x.Started.Compare(y.Started))
	})
	return order
}

// Cost is what it costs to let some pods make way.
type Cost struct {
	violations int
	priorities []int32     // descending
	started    []time.Time // descending
}

// CostOf returns what it costs if the pods make way, with so many disruptions allowed by each
// budget.
func CostOf(pods []*Holder, allowed []int32) Cost {
	var c Cost
	used := make([]int32, len(allowed))
	for _, pod := range pods {
		violates := false
		for _, budget := range pod.Budgets {
			used[budget]++
			violates = violates || used[budget] > allowed[budget]
		}
		if violates {
			c.violations++
		}
		c.priorities = append(c.priorities, pod.Priority)
		c.started = append(c.started, pod.Started)
	}
	slices.SortFunc(c.priorities, func(a, b int32) int { return cmp.Compare(b, a) })
	slices.SortFunc(c.started, func(a, b time.Time) int { return b.Compare(a) })
	return c
}

// Compare returns a negative number if c is cheaper than other, a positive one if it is dearer, and
// 0 if they are equal.
func (c Cost) Compare(other Cost) int {
	return cmp.Or(
		cmp.Compare(c.violations, other.violations),
		cmp.Compare(len(c.priorities), len(other.priorities)),
		slices.Compare(c.priorities, other.priorities),
		slices.CompareFunc(other.started, c.started, time.Time.Compare),
	)
}

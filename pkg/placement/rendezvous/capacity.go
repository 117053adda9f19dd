// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rendezvous

import (
	"cmp"
	"slices"
	"strings"
)

// sizesOf returns the sizes of the clusters, divided by the smallest if that divides all, so that
// clusters of one size count as one each.
func sizesOf(clusters []Object) []int {
	sizes := make([]int, len(clusters))
	least := maxSize
	for i, c := range clusters {
		sizes[i] = min(max(1, c.Size), maxSize)
		least = min(least, sizes[i])
	}
	for _, size := range sizes {
		if size%least != 0 {
			return sizes
		}
	}
	for i := range sizes {
		sizes[i] /= least
	}
	return sizes
}

// fewEach is up to how many clusters of one size for each scheduler are shared out exactly, unless
// places are kept together. With so few a bound above the share can give one of three schedulers a
// single cluster of a dozen. With more of them exact shares would move more clusters when a
// scheduler comes.
const fewEach = 4

// capacities returns the bound of each scheduler. What is pinned to a scheduler counts; one that is
// pinned more than its share gets nothing else, and the others share out the rest among them:
//
//	pinned       free   shares                bounds
//	9, 0, 0      12     7, then -, 6, 6       9, 7, 7
//	9, 0, 0      6      5, then -, 3, 3       9, 3, 3, as they are few
func (a *Assignment) capacities(schedulers []Server, free []int, options Options) []int {
	total := 0
	for _, i := range free {
		total += a.sizes[i]
	}
	full, sum, weights := a.overloaded(schedulers, total)
	bounds := make([]int, len(schedulers))
	open := 0
	for s, scheduler := range schedulers {
		if bounds[s] = a.Loads[s]; !full[s] {
			bounds[s] = bound(sum*weightOf(scheduler), weights, options.LoadFactor)
			open++
		}
	}
	if options == (Options{}) && sum <= uint64(fewEach*open) && total == len(free) {
		a.exact(bounds, full, sum, weights, schedulers)
	}
	return bounds
}

// overloaded returns which schedulers are full, because they are pinned more than their share, and
// what the others share: the sum of their loads and of the total that is free, and their weights.
func (a *Assignment) overloaded(schedulers []Server, total int) (full []bool, sum, weights uint64) {
	full = make([]bool, len(schedulers))
	for again := true; again; {
		sum, weights, again = uint64(total), 0, false
		for s, scheduler := range schedulers {
			if !full[s] {
				sum += uint64(a.Loads[s])
				weights += weightOf(scheduler)
			}
		}
		for s, scheduler := range schedulers {
			// The load is more than its share: load > sum*weight/weights.
			if !full[s] && uint64(a.Loads[s])*weights > sum*weightOf(scheduler) {
				full[s], again = true, true
			}
		}
	}
	return full, sum, weights
}

// exact sets the bounds of the schedulers that are not full so that they add up to sum: each has
// its share rounded down, and those with the largest remainders, then the first by name, one more.
func (a *Assignment) exact(bounds []int, full []bool, sum, weights uint64, schedulers []Server) {
	var open []int
	left := sum
	for s := range schedulers {
		if !full[s] {
			bounds[s] = int(sum * weightOf(schedulers[s]) / weights)
			left -= uint64(bounds[s])
			open = append(open, s)
		}
	}
	slices.SortFunc(open, func(x, y int) int {
		return cmp.Or(
			cmp.Compare(sum*weightOf(schedulers[y])%weights, sum*weightOf(schedulers[x])%weights),
			strings.Compare(schedulers[x].Name, schedulers[y].Name))
	})
	for _, s := range open[:left] {
		bounds[s]++
	}
}

// bound returns the bound of a scheduler whose share is a fraction. It is computed in integers:
// with floats 1.1 * 10 has a ceiling of 12. At most the numerator is 10^5 clusters * 2^13 * 10^3,
// times a factor of 10^6 less than 10^18.
func bound(share, of uint64, factor LoadFactor) int {
	ceiling := func(numerator, denominator uint64) uint64 { return (numerator + denominator - 1) / denominator }
	if factor != 0 {
		return int(ceiling(uint64(factor)*share, 1000*of))
	}
	// Few clusters are shared out more evenly than they must be.
	const tenth = 1100
	least := max(ceiling(share, of)+1, tenth*share/(1000*of))
	return int(min(least, ceiling(tenth*share, 1000*of)))
}

// placeLarge places the clusters that are larger than every bound, which would fit nobody, sets the
// bounds for the others, and returns these.
func (a *Assignment) placeLarge(free []int, clusters []Object, schedulers []Server, options Options) []int {
	free = slices.Clone(free)
	slices.SortStableFunc(free, func(x, y int) int {
		return cmp.Or(cmp.Compare(a.sizes[y], a.sizes[x]), strings.Compare(clusters[x].Name, clusters[y].Name))
	})
	for {
		a.Capacities = a.capacities(schedulers, free, options)
		if len(free) == 0 || a.sizes[free[0]] <= slices.Max(a.Capacities) {
			return free
		}
		a.placeLeast([]unit{{members: free[:1], size: a.sizes[free[0]]}}, clusters, schedulers)
		free = free[1:]
	}
}

// placeLeast gives each of these units of one cluster to the scheduler that has least in relation
// to its weight, the largest first.
func (a *Assignment) placeLeast(units []unit, clusters []Object, schedulers []Server) {
	slices.SortStableFunc(units, func(x, y unit) int {
		return cmp.Or(cmp.Compare(y.size, x.size), strings.Compare(clusters[x.members[0]].Name, clusters[y.members[0]].Name))
	})
	for _, u := range units {
		name := clusters[u.members[0]].Name
		best := 0
		for s := range schedulers {
			if a.before(s, best, name, schedulers) {
				best = s
			}
		}
		a.Owners[u.members[0]] = best
		a.Loads[best] += u.size
	}
}

// before reports whether a scheduler has less in relation to its weight than another one, or as
// much and ranks the cluster better.
func (a *Assignment) before(s, other int, cluster string, schedulers []Server) bool {
	x, y := schedulers[s], schedulers[other]
	rankOf := func(s Server) uint64 { return rank(hashPrefix(s.Name).with(cluster), weightOf(s)) }
	return cmp.Or(
		cmp.Compare(uint64(a.Loads[s])*weightOf(y), uint64(a.Loads[other])*weightOf(x)),
		cmp.Compare(rankOf(x), rankOf(y)), strings.Compare(x.Name, y.Name)) < 0
}

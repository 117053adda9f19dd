// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rendezvous shares clusters out among schedulers by bounded rendezvous hashing. Every pair
// of a cluster and a scheduler has a score that depends on the two names alone. The pairs are taken
// from the best score downwards; a pair counts if its cluster has no owner yet and its scheduler is
// not full. Since both sides rank by the same score this is the one stable matching: the result
// depends on the two sets only, never on order, history or who computes it, nobody gets more than
// its bound, and when a scheduler comes or goes hardly more clusters move than must.
package rendezvous

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

const (
	// MaxLoadFactor is so large that nobody is ever full: rendezvous hashing without a bound.
	MaxLoadFactor LoadFactor = 1_000_000

	// maxWeight is the largest weight of a scheduler.
	maxWeight = 1000

	// maxSize is the largest size of a cluster.
	maxSize = 1 << 13

	// maxClusters is the largest number of clusters that are shared out at once.
	maxClusters = 100_000

	// MaxSchedulers is the largest number of schedulers among which they are.
	MaxSchedulers = 1000

	// maxPairs bounds the memory: sixteen bytes for each pair.
	maxPairs = 20_000_000
)

// LoadFactor bounds the load of each scheduler relative to its fair share, in thousandths: 1100
// stands for 1.10. At least 1000.
type LoadFactor int

// Server is a scheduler, which takes a share of the clusters.
type Server struct {
	// Name identifies the scheduler; unique, not empty.
	Name string
	// Weight is the scheduler's part in relation to the other weights, 1 to maxWeight; 0 counts as
	// 1.
	Weight int
}

// Object is a cluster, which is shared out.
type Object struct {
	// Name identifies the cluster; unique, not empty.
	Name string
	// Size is what the cluster costs its scheduler in relation to others; 0 counts as 1, more than
	// maxSize as maxSize.
	Size int
	// Pin is the name of the scheduler that has the cluster whatever its load. A pin to none of the
	// schedulers, and an empty one, leaves the choice.
	Pin string
	// Region, Province and City are used if clusters are kept together by place; empty means the
	// place is not known.
	Region, Province, City string
}

// Options say how clusters are shared out. The zero value balances them and keeps none together.
type Options struct {
	// LoadFactor bounds the load of each scheduler to ceil(LoadFactor x share). 0 bounds it to
	// max(ceil(share) + 1, floor(1.10 x share)) clusters, or to the share where there are few. If
	// sizes differ, so much of them, or the share and one cluster more where a large one fits nobody
	// else.
	LoadFactor LoadFactor
	// GroupBy keeps clusters of one place with one scheduler where the bound allows.
	GroupBy GroupBy
}

// Assignment tells who owns which cluster.
type Assignment struct {
	// Owners holds, for each cluster as given, the index of its scheduler, -1 if there are no
	// schedulers.
	Owners []int
	// Loads holds the sum of the sizes of the clusters of each scheduler as given.
	Loads []int
	// Capacities holds the bound of each scheduler as given. Pinned clusters may exceed it.
	Capacities []int

	// sizes are those of the clusters, in units of the smallest if they are powers of two.
	sizes []int
}

// Assign shares the clusters out. It fails, naming the culprit, on empty or repeated names, on
// weights and load factors out of range, and on more than maxClusters or MaxSchedulers. Without
// schedulers no cluster has an owner, which is no error.
func Assign(clusters []Object, schedulers []Server, options Options) (*Assignment, error) {
	if err := validate(clusters, schedulers, options); err != nil {
		return nil, err
	}
	a := &Assignment{Owners: make([]int, len(clusters)), Loads: make([]int, len(schedulers)), sizes: sizesOf(clusters)}
	for i := range a.Owners {
		a.Owners[i] = -1
	}
	if len(schedulers) == 0 {
		a.Capacities = []int{}
		return a, nil
	}
	free := a.placeLarge(a.pin(clusters, schedulers), clusters, schedulers, options)
	for units := a.split(divide(free, clusters, options.GroupBy), clusters); len(units) > 0; {
		left := a.match(units, schedulers)
		if !slices.ContainsFunc(left, func(u unit) bool { return u.level != GroupByNone }) {
			// Single clusters are left if the others leave too little room in one place for them.
			a.placeLeast(left, clusters, schedulers)
			break
		}
		units = a.split(finer(left, clusters), clusters)
	}
	return a, nil
}

// pin gives the pinned clusters to their schedulers, and returns the others.
func (a *Assignment) pin(clusters []Object, schedulers []Server) (free []int) {
	index := make(map[string]int, len(schedulers))
	for i, s := range schedulers {
		index[s.Name] = i
	}
	for i, c := range clusters {
		if s, pinned := index[c.Pin]; pinned {
			a.Owners[i] = s
			a.Loads[s] += a.sizes[i]
			continue
		}
		free = append(free, i)
	}
	return free
}

func weightOf(s Server) uint64 {
	return uint64(max(1, s.Weight))
}

// pair is a unit and a scheduler with the rank of the two; the smallest rank is taken first.
type pair struct {
	rank            uint64
	unit, scheduler int32
}

// match gives each unit to the scheduler that ranks it best and has room for all of it, and
// returns the units for which nobody has. Among clusters of one size a unit of one cluster always
// finds room, since the capacities add up to at least the sum of the sizes.
func (a *Assignment) match(units []unit, schedulers []Server) []unit {
	pairs := make([]pair, 0, len(units)*len(schedulers))
	for s, scheduler := range schedulers {
		prefix := hashPrefix(scheduler.Name)
		for u := range units {
			pairs = append(pairs, pair{
				rank: rank(prefix.with(units[u].key), weightOf(scheduler)), unit: int32(u), scheduler: int32(s),
			})
		}
	}
	slices.SortFunc(pairs, func(x, y pair) int {
		if x.rank != y.rank {
			return cmp.Compare(x.rank, y.rank)
		}
		return cmp.Or(
			strings.Compare(units[x.unit].key, units[y.unit].key),
			strings.Compare(schedulers[x.scheduler].Name, schedulers[y.scheduler].Name),
		)
	})
	done := make([]bool, len(units))
	for _, p := range pairs {
		members := units[p.unit].members
		if done[p.unit] || a.Loads[p.scheduler]+units[p.unit].size > a.Capacities[p.scheduler] {
			continue
		}
		done[p.unit] = true
		a.Loads[p.scheduler] += units[p.unit].size
		for _, cluster := range members {
			a.Owners[cluster] = int(p.scheduler)
		}
	}
	var left []unit
	for u := range units {
		if !done[u] {
			left = append(left, units[u])
		}
	}
	return left
}

// valid reports whether a load factor is in its range, or absent.
func (f LoadFactor) valid() bool { return f == 0 || f >= 1000 && f <= MaxLoadFactor }

func validate(clusters []Object, schedulers []Server, options Options) error {
	if !options.LoadFactor.valid() {
		return fmt.Errorf("load factor %d.%03d is not between 1 and %d",
			options.LoadFactor/1000, options.LoadFactor%1000, MaxLoadFactor/1000)
	}
	if len(clusters) > maxClusters || len(schedulers) > MaxSchedulers || len(clusters)*len(schedulers) > maxPairs {
		return fmt.Errorf("%d clusters and %d schedulers are too many to share out at once", len(clusters), len(schedulers))
	}
	names := make(map[string]struct{}, len(clusters))
	for _, c := range clusters {
		if err := unique("cluster", c.Name, names); err != nil {
			return err
		}
	}
	clear(names)
	for _, s := range schedulers {
		if err := unique("scheduler", s.Name, names); err != nil {
			return err
		}
		if s.Weight < 0 || s.Weight > maxWeight {
			return fmt.Errorf("scheduler %q: weight %d is not between 1 and %d", s.Name, s.Weight, maxWeight)
		}
	}
	return nil
}

var errNoName = errors.New("the name is empty")

func unique(kind, name string, seen map[string]struct{}) error {
	if name == "" {
		return fmt.Errorf("%s: %w", kind, errNoName)
	}
	if _, twice := seen[name]; twice {
		return fmt.Errorf("%s %q is listed twice", kind, name)
	}
	seen[name] = struct{}{}
	return nil
}

// rank turns a hash into the order in which pairs are taken. Read as a number u in (0, 1], a hash
// gives an exponentially distributed waiting time -log2(u)/weight, so that without a bound each
// scheduler wins in proportion to its weight. It is computed in integers, for the same result on
// every machine.
func rank(hash, weight uint64) uint64 {
	return minusLog2(hash) << (62 - 6 - fraction) / weight
}

// fraction is the number of binary digits behind the point of a logarithm.
const fraction = 44

// minusLog2 returns -log2((h+1)/2^64) with fraction digits behind the point, by repeated squaring.
func minusLog2(h uint64) uint64 {
	if h == 1<<64-1 {
		return 0
	}
	h++
	zeros := bits.LeadingZeros64(h)
	mantissa := h << zeros // in [1, 2) with the point behind the first digit
	log := uint64(0)       // of the mantissa
	for range fraction {
		log <<= 1
		square, low := bits.Mul64(mantissa, mantissa)
		if square >= 1<<63 {
			log |= 1
			mantissa = square
		} else {
			mantissa = square<<1 | low>>63
		}
	}
	return uint64(zeros+1)<<fraction - log
}

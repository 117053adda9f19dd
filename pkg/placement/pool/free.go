// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"math"
	"slices"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// Free returns, for a pool by its index, how many units are left in it. Pods may hold more than is
// allocatable; then it is negative.
type Free func(pool int32) int64

// Uncountable is what is left of a pool of which pods hold more than can be counted in units.
// Nothing that is given back changes that, as nobody knows how much would have to be.
const Uncountable = math.MinInt64

// AddUnits returns how many units are left once so many have been given back, or were taken if
// units is negative. A sum that an int64 cannot hold is Uncountable or the largest one.
func AddUnits(free, units int64) int64 {
	sum := free + units
	switch {
	case free == Uncountable || units < 0 && sum > free:
		return Uncountable
	case units > 0 && sum < free:
		return math.MaxInt64
	default:
		return sum
	}
}

// Short returns how many units are missing for a pod that asks for so many, 0 or less if enough are
// left; the largest number if more are than an int64 can hold.
func Short(free, units int64) int64 {
	if free == Uncountable {
		return math.MaxInt64
	}
	return AddUnits(units, -free)
}

// enough reports whether so many units are left. UnitsUp returns the largest number for requests
// that are larger still; no pool has enough for these.
func enough(free, units int64) bool {
	return free >= units && units < math.MaxInt64
}

// Free returns how many units are left in each pool of a resource.
func (a *Account) Free(r *Resource) []int64 {
	free := make([]int64, len(r.pools))
	for i := range r.pools {
		held, _ := a.Held(r.name, r.pools[i].Name)
		free[i] = r.left(i, UnitsUp(held, r.unit))
	}
	return free
}

func (r *Resource) left(pool int, held int64) int64 {
	if held == math.MaxInt64 {
		return Uncountable
	}
	return r.pools[pool].Allocatable - held
}

// Left returns how many units are left in each pool by what was counted last: by the status of the
// ClusterResource. All of a pool is left that has not been counted yet.
func (r *Resource) Left(status *berthv1alpha1.ClusterResourceStatus) []int64 {
	left := make([]int64, len(r.pools))
	for i := range r.pools {
		left[i] = r.pools[i].Allocatable
	}
	for i := range status.Allocated {
		counted := &status.Allocated[i]
		if at, known := r.index[counted.Name]; known {
			left[at] = min(left[at], UnitsUp(counted.Free, r.unit))
		}
	}
	return left
}

// Draws returns which of some pools a pod that asks for so many units is expected to be charged to,
// as long as nobody knows on which of their nodes it will run: with mode AllOf each that has enough
// left, otherwise the one with most left, of equal ones the first. None has enough left if there is
// none.
func (r *Resource) Draws(pools []int32, free Free, units int64) []int32 {
	if r.AllOf() {
		return slices.DeleteFunc(slices.Clone(pools), func(i int32) bool { return !enough(free(i), units) })
	}
	best := -1
	for n, i := range pools {
		if enough(free(i), units) && (best < 0 || free(i) > free(pools[best])) {
			best = n
		}
	}
	if best < 0 {
		return nil
	}
	return pools[best : best+1]
}

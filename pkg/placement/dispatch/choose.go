// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"cmp"
	"math/bits"
	"slices"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// Preference is what a pod would like of the place where it runs. Empty fields are met by
// everything.
type Preference struct {
	// Geo is where it would like to be.
	Geo berthv1alpha1.GeoLocation
	// CPU in cores and Mem in GiB are what it asks for, rounded up.
	CPU, Mem int64
}

// matchesGeo reports whether a place is one that is wanted: each field that is not empty must be
// equal.
func matchesGeo(have, want berthv1alpha1.GeoLocation) bool {
	meets := func(have, want string) bool { return want == "" || have == want }
	return meets(have.City, want.City) && meets(have.Province, want.Province) &&
		meets(have.Area, want.Area) && meets(have.Country, want.Country)
}

// Grants reports whether some place of a scheduler, and the largest of its clusters, meet the wish.
// A capacity that nobody registered meets any.
func (w Preference) Grants(u *berthv1alpha1.ClusterUnion) bool {
	enough := func(have berthv1alpha1.CapacityUnion, want int64) bool { return have.Max == 0 || have.Max >= want }
	if !enough(u.CPUCapacity, w.CPU) || !enough(u.MemCapacity, w.Mem) {
		return false
	}
	return w.Geo == berthv1alpha1.GeoLocation{} ||
		slices.ContainsFunc(u.GeoLocations, func(have berthv1alpha1.GeoLocation) bool { return matchesGeo(have, w.Geo) })
}

// Contender is a scheduler that could place a pod.
type Contender struct {
	// Name is the name of the Scheduler.
	Name string
	// Grants reports whether it meets the pod's wish.
	Grants bool
	// Load is how many pods wait for it or run with it, and Size how much it has to place them on,
	// such as nodes.
	Load, Size int
}

// choose returns the index of the scheduler that gets a pod: one that meets its wish before one
// that does not, then the one with the least Load for its Size, then the first by name. It returns
// -1 for no candidates.
func choose(candidates []Contender) int {
	best := -1
	for i := range candidates {
		if best < 0 || compare(&candidates[i], &candidates[best]) < 0 {
			best = i
		}
	}
	return best
}

func compare(a, b *Contender) int {
	if a.Grants != b.Grants {
		if a.Grants {
			return -1
		}
		return 1
	}
	return cmp.Or(compareLoad(a, b), cmp.Compare(a.Name, b.Name))
}

// compareLoad compares load/size without rounding. Nobody goes to a scheduler with nothing if
// another has something.
func compareLoad(a, b *Contender) int {
	if (a.Size <= 0) != (b.Size <= 0) {
		return cmp.Compare(b.Size, a.Size)
	}
	hiA, loA := bits.Mul64(uint64(max(0, a.Load)), uint64(max(1, b.Size)))
	hiB, loB := bits.Mul64(uint64(max(0, b.Load)), uint64(max(1, a.Size)))
	return cmp.Or(cmp.Compare(hiA, hiB), cmp.Compare(loA, loB))
}

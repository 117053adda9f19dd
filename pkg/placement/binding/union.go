// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"cmp"
	"maps"
	"math"
	"slices"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/names"
)

// maxListed bounds each list of a union; the CRD allows no more.
const maxListed = 1000

// maxShown bounds what a column of kubectl get shows of a list.
const maxShown = 5

// Union returns what the clusters have together. It is made from all of them each time, never
// patched, so that what two clusters share cannot get lost with one of them. Lists are sorted and
// hold each value once. A cluster that says nothing of something adds nothing to it, and a server
// price of 0 is none.
func Union(clusters []*berthv1alpha1.Cluster) berthv1alpha1.ClusterUnion {
	var u berthv1alpha1.ClusterUnion
	geo, regions := map[berthv1alpha1.GeoLocation]bool{}, map[berthv1alpha1.Region]bool{}
	operators := map[string]bool{}
	flavors, storage := map[string]berthv1alpha1.CapacityUnion{}, map[string]berthv1alpha1.CapacityUnion{}
	for _, c := range clusters {
		p := &c.Spec.ClusterProfile
		note(geo, p.GeoLocation)
		note(regions, p.Region)
		if p.Operator != nil && p.Operator.Operator != "" {
			operators[p.Operator.Operator] = true
		}
		for _, f := range p.Flavors {
			flavors[f.FlavorID] = with(flavors[f.FlavorID], f.TotalCapacity)
		}
		for _, s := range p.Storage {
			storage[s.TypeID] = with(storage[s.TypeID], s.StorageCapacity)
		}
		u.EIPCapacity = with(u.EIPCapacity, p.EIPCapacity)
		u.CPUCapacity = with(u.CPUCapacity, p.CPUCapacity)
		u.MemCapacity = with(u.MemCapacity, p.MemCapacity)
		u.ServerPrice = withPrice(u.ServerPrice, p.ServerPrice)
	}
	u.GeoLocations = sorted(geo, func(a, b berthv1alpha1.GeoLocation) int {
		return cmp.Or(cmp.Compare(a.Country, b.Country), cmp.Compare(a.Area, b.Area),
			cmp.Compare(a.Province, b.Province), cmp.Compare(a.City, b.City))
	})
	u.Regions = sorted(regions, func(a, b berthv1alpha1.Region) int {
		return cmp.Or(cmp.Compare(a.Region, b.Region), cmp.Compare(a.AvailabilityZone, b.AvailabilityZone))
	})
	u.Operators = sorted(operators, cmp.Compare[string])
	for _, id := range sorted(flavors, cmp.Compare[string]) {
		u.Flavors = append(u.Flavors, berthv1alpha1.FlavorUnion{FlavorID: id, CapacityUnion: flavors[id]})
	}
	for _, id := range sorted(storage, cmp.Compare[string]) {
		u.Storage = append(u.Storage, berthv1alpha1.StorageUnion{TypeID: id, CapacityUnion: storage[id]})
	}
	u.Columns = berthv1alpha1.UnionColumns{
		Regions:   column(u.Regions, func(r berthv1alpha1.Region) string { return r.Region }),
		Cities:    column(u.GeoLocations, func(g berthv1alpha1.GeoLocation) string { return g.City }),
		Operators: column(u.Operators, func(operator string) string { return operator }),
		Flavors:   column(u.Flavors, func(f berthv1alpha1.FlavorUnion) string { return f.FlavorID }),
		Storage:   column(u.Storage, func(s berthv1alpha1.StorageUnion) string { return s.TypeID }),
	}
	return u
}

// column returns a list as text. Elements without a name do not show.
func column[T any](list []T, nameOf func(T) string) string {
	all := map[string]bool{}
	for _, element := range list {
		if name := nameOf(element); name != "" {
			all[name] = true
		}
	}
	return names.First(slices.Sorted(maps.Keys(all)), maxShown, ",")
}

// note adds a value unless it is absent or says nothing.
func note[T comparable](seen map[T]bool, value *T) {
	var nothing T
	if value != nil && *value != nothing {
		seen[*value] = true
	}
}

func sorted[K comparable, V any](values map[K]V, compare func(a, b K) int) []K {
	if len(values) == 0 {
		return nil
	}
	keys := slices.SortedFunc(maps.Keys(values), compare)
	return keys[:min(len(keys), maxListed)]
}

// with adds a capacity. The sum stays at the largest number rather than to turn negative.
func with(u berthv1alpha1.CapacityUnion, capacity int64) berthv1alpha1.CapacityUnion {
	capacity = max(0, capacity)
	if u.Total > math.MaxInt64-capacity {
		u.Total = math.MaxInt64
	} else {
		u.Total += capacity
	}
	u.Max = max(u.Max, capacity)
	return u
}

func withPrice(r *berthv1alpha1.PriceRange, price int64) *berthv1alpha1.PriceRange {
	switch {
	case price <= 0:
		return r
	case r == nil:
		return &berthv1alpha1.PriceRange{Min: price, Max: price}
	default:
		return &berthv1alpha1.PriceRange{Min: min(r.Min, price), Max: max(r.Max, price)}
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rendezvous

import (
	"slices"
)

// GroupBy says which clusters are kept together.
type GroupBy string

const (
	// GroupByNone shares every cluster out by itself.
	GroupByNone GroupBy = ""
	// GroupByCity keeps the clusters of a city together.
	GroupByCity GroupBy = "city"
	// GroupByProvince keeps the clusters of a province together.
	GroupByProvince GroupBy = "province"
	// GroupByRegion keeps the clusters of a region, in the words of their operator, together.
	GroupByRegion GroupBy = "region"
)

// unit is a set of clusters that go to one scheduler.
type unit struct {
	level   GroupBy
	key     string
	members []int
	// size is that of all members together.
	size int
}

// divide returns the units of a level. Clusters whose place is not known stand alone.
func divide(members []int, clusters []Object, level GroupBy) []unit {
	var units []unit
	byKey := map[string]int{}
	for _, m := range members {
		key := groupKey(clusters[m], level)
		if key == "" {
			units = append(units, unit{level: GroupByNone, key: clusters[m].Name, members: []int{m}})
			continue
		}
		u, known := byKey[key]
		if !known {
			u = len(units)
			byKey[key] = u
			units = append(units, unit{level: level, key: key})
		}
		units[u].members = append(units[u].members, m)
	}
	return units
}

// groupKey cannot be the name of a cluster: no name contains a slash.
func groupKey(c Object, level GroupBy) string {
	switch {
	case level == GroupByRegion && c.Region != "":
		return "region/" + c.Region
	case level == GroupByProvince && c.Province != "":
		return "province/" + c.Province
	case level == GroupByCity && c.City != "":
		return "city/" + c.Province + "/" + c.City
	}
	return ""
}

// finer splits units one level down: a province into its cities, a city or a region into its
// clusters.
func finer(units []unit, clusters []Object) []unit {
	result := make([]unit, 0, len(units))
	for _, u := range units {
		level := GroupByNone
		if u.level == GroupByProvince {
			level = GroupByCity
		}
		result = append(result, divide(u.members, clusters, level)...)
	}
	return result
}

// split splits the units that no scheduler could ever hold, and notes the sizes of the others.
func (a *Assignment) split(units []unit, clusters []Object) []unit {
	largest := slices.Max(a.Capacities)
	result := make([]unit, 0, len(units))
	for _, u := range units {
		u.size = 0
		for _, m := range u.members {
			u.size += a.sizes[m]
		}
		if u.size <= largest || u.level == GroupByNone {
			result = append(result, u)
			continue
		}
		result = append(result, a.split(finer([]unit{u}, clusters), clusters)...)
	}
	return result
}

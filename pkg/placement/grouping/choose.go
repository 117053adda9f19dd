// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grouping

import (
	"cmp"
	"slices"
	"strings"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// member is a cluster of a group that may get a share.
type member struct {
	name       string
	weight     int64
	precedence uint64
	// values are what the cluster has of the fields of the spread constraints, empty for none.
	values []string
}

// byPrecedence is the order of rendezvous hashing: who comes or goes changes no other's place.
func byPrecedence(a, b member) int {
	return cmp.Or(cmp.Compare(a.precedence, b.precedence), strings.Compare(a.name, b.name))
}

// bySeat is the order in which members of a group get their first seats.
func bySeat(a, b member) int {
	return cmp.Or(cmp.Compare(b.weight, a.weight), byPrecedence(a, b))
}

// choose returns at most so many of the members: those that satisfy the constraints, then the
// others, by precedence.
func choose(members []member, constraints []berthv1alpha1.SpreadConstraint, most int) []member {
	if len(members) <= most {
		return members
	}
	slices.SortFunc(members, byPrecedence)
	first := cover(members, constraints, most)
	chosen := make([]member, 0, most)
	for _, i := range first {
		chosen = append(chosen, members[i])
	}
	for i := range members {
		if len(chosen) == most {
			break
		}
		if !slices.Contains(first, i) {
			chosen = append(chosen, members[i])
		}
	}
	return chosen
}

// cover picks members, at most so many, until there are as many different values among them as each
// constraint wants, or none brings a new one. Each pick is the first that brings as many new values
// as any.
func cover(members []member, constraints []berthv1alpha1.SpreadConstraint, most int) []int {
	var picked []int
	seen := make([]map[string]bool, len(constraints))
	for j := range seen {
		seen[j] = map[string]bool{"": true}
	}
	for len(picked) < most {
		best, gained := -1, 0
		for i := range members {
			if n := gain(&members[i], seen, constraints); n > gained {
				best, gained = i, n
			}
		}
		if best < 0 {
			break
		}
		picked = append(picked, best)
		for j, value := range members[best].values {
			seen[j][value] = true
		}
	}
	return picked
}

// gain returns how many constraints that are not satisfied a member has a new value for. The empty
// value, which counts as seen, is none.
func gain(m *member, seen []map[string]bool, constraints []berthv1alpha1.SpreadConstraint) int {
	n := 0
	for j, value := range m.values {
		if len(seen[j])-1 < int(constraints[j].MinGroups) && !seen[j][value] {
			n++
		}
	}
	return n
}

// Relaxed is a spread constraint that asks for more than there is.
type Relaxed struct {
	// Group is the name of the group of clusters, Field what the constraint is about.
	Group, Field string
	// Wanted and Found are numbers of different values.
	Wanted, Found int
}

// relaxed returns the constraints that the members cannot satisfy.
func relaxed(group *berthv1alpha1.ClusterGroup, members []member) []Relaxed {
	var list []Relaxed
	for j := range group.SpreadConstraints {
		constraint := &group.SpreadConstraints[j]
		found := map[string]bool{}
		for i := range members {
			if value := members[i].values[j]; value != "" {
				found[value] = true
			}
		}
		if len(found) < int(constraint.MinGroups) {
			list = append(list, Relaxed{Group: group.Name, Field: fieldOf(constraint), Wanted: int(constraint.MinGroups), Found: len(found)})
		}
	}
	return list
}

// fieldOf returns the label, as the selectors of Clusters know it, that a constraint is about.
func fieldOf(constraint *berthv1alpha1.SpreadConstraint) string {
	switch constraint.Field {
	case berthv1alpha1.SpreadByCity:
		return "geoLocation.city"
	case berthv1alpha1.SpreadByProvince:
		return "geoLocation.province"
	case berthv1alpha1.SpreadByCountry:
		return "geoLocation.country"
	case berthv1alpha1.SpreadByRegion:
		return "region.region"
	case berthv1alpha1.SpreadByLabel:
	}
	return constraint.LabelKey
}

// valuesOf returns what a cluster has of the fields of the constraints.
func valuesOf(constraints []berthv1alpha1.SpreadConstraint, labels map[string]string) []string {
	values := make([]string, len(constraints))
	for j := range constraints {
		values[j] = labels[fieldOf(&constraints[j])]
	}
	return values
}

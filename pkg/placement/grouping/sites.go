// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grouping

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/rank"
)

// Sites are the Clusters that there are, as the placement of policies sees them. They are immutable
// and safe for concurrent use. Of nil Sites nothing is known: no Cluster, and none that is
// cordoned.
type Sites struct {
	list     []site // by name
	cordoned map[string]bool
}

// site is a Cluster.
type site struct {
	name    string
	traits  rank.Traits
	leaving bool
	// observed reports whether the controllers have ever looked at it: of one that they have not,
	// what its status lacks may be there all the same.
	observed bool
	// allocatable are amounts of resources as numbers: of cpu thousandths.
	allocatable map[string]int64
	// room are amounts of resources that others leave, as numbers like those of allocatable.
	room map[string]int64
	// pools are units of ClusterResources.
	pools map[string]int64
}

// NewSites returns the sites of the Clusters. It returns those of before, which may be nil, if they
// are the same: equal pointers mean that nothing has changed.
func NewSites(clusters []*berthv1alpha1.Cluster, before *Sites) *Sites {
	s := &Sites{list: make([]site, len(clusters)), cordoned: map[string]bool{}}
	for i, c := range clusters {
		s.list[i] = site{
			name: c.Name, traits: rank.TraitsOf(c), leaving: c.DeletionTimestamp != nil, observed: c.Status.ObservedGeneration > 0,
			allocatable: amounts(c.Status.Allocatable), room: amounts(c.Status.Room), pools: pools(c),
		}
		if c.Spec.Unschedulable {
			s.cordoned[c.Name] = true
		}
	}
	slices.SortFunc(s.list, func(a, b site) int { return strings.Compare(a.name, b.name) })
	if before != nil && maps.Equal(s.cordoned, before.cordoned) && slices.EqualFunc(s.list, before.list, site.equal) {
		return before
	}
	return s
}

func (s site) equal(other site) bool {
	return s.name == other.name && s.leaving == other.leaving && s.observed == other.observed && s.traits.Equal(other.traits) &&
		maps.Equal(s.allocatable, other.allocatable) && maps.Equal(s.room, other.room) && maps.Equal(s.pools, other.pools)
}

// pools returns what there is of ClusterResources in a cluster, nil if nothing.
func pools(c *berthv1alpha1.Cluster) map[string]int64 {
	if len(c.Status.Pools) == 0 {
		return nil
	}
	units := make(map[string]int64, len(c.Status.Pools))
	for _, p := range c.Status.Pools {
		units[p.ClusterResource] = p.Units
	}
	return units
}

func amounts[L ~map[K]resource.Quantity, K ~string](list L) map[string]int64 {
	if len(list) == 0 {
		return nil
	}
	numbers := make(map[string]int64, len(list))
	for name, amount := range list {
		numbers[string(name)] = Number(string(name), amount)
	}
	return numbers
}

// cpu is the resource that is counted in thousandths.
const cpu = "cpu"

// Number returns an amount of a resource as the number by which clusters are weighed: of cpu
// thousandths.
func Number(name string, amount resource.Quantity) int64 {
	if name == cpu {
		return amount.MilliValue()
	}
	return amount.Value()
}

// Named returns the names of the Clusters that match.
func (s *Sites) Named(match func(name string) bool) (names []string) {
	for i := range s.all() {
		if name := s.list[i].name; match(name) {
			names = append(names, name)
		}
	}
	return names
}

// Cordoned are the names of the Clusters that take no new pods. It must not be changed.
func (s *Sites) Cordoned() map[string]bool {
	if s == nil {
		return nil
	}
	return s.cordoned
}

// excluded returns the names of the Clusters that do not meet the constraints of a placement, nil
// if it has none. Nor does it tell any if they cannot be understood: then nothing is placed.
func (s *Sites) excluded(constraints *berthv1alpha1.ClusterConstraints) map[string]bool {
	if constraints == nil {
		return nil
	}
	parsed, err := rank.ParseConstraints(constraints)
	if err != nil {
		return nil
	}
	names := map[string]bool{}
	for i := range s.all() {
		if parsed.Exclude(&s.list[i].traits) {
			names[s.list[i].name] = true
		}
	}
	return names
}

func (s *Sites) all() []site {
	if s == nil {
		return nil
	}
	return s.list
}

// find returns the named site, nil if there is none.
func (s *Sites) find(name string) *site {
	list := s.all()
	i, found := slices.BinarySearchFunc(list, name, func(s site, name string) int { return strings.Compare(s.name, name) })
	if !found {
		return nil
	}
	return &list[i]
}

// count returns how many of the names are those of sites that are not excluded.
func (s *Sites) count(names []string, excluded map[string]bool) (n int64) {
	for _, name := range names {
		if s.find(name) != nil && !excluded[name] {
			n++
		}
	}
	return n
}

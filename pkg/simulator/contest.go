// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/dynamic-resource-allocation/resourceclaim"
)

// contest says by how much copies may get in one another's way that take volumes or devices of
// their own. Of those that suit alike the plugins take any: a copy may be given what several nodes
// can use where it could have had what is of use to its node only, and another node goes without.
// For example, nodes a and b with room for a copy each, a disk of a, and one that both can use:
//
//	the first copy on a takes    the disk of a    the other one
//	the second one on b takes    the other one    nothing
//
// Whatever is taken, it is a choice to which nothing can be added; how far two of these can differ
// is what bounds.
type contest struct {
	// items is what one copy takes, and none if all choices are of the same size.
	items int
	// deficit is by how much two choices differ at most if a copy takes one thing.
	deficit int
}

// worst returns how many copies there are in any case if there can be so many.
func (c contest) worst(copies int) int {
	half := (copies + c.items) / (c.items + 1)
	if c.items == 1 {
		return max(half, copies-c.deficit)
	}
	return half
}

// enough returns how many copies there must be able to be, so that there are so many in any case.
func (c contest) enough(copies int) int {
	if c.items == 1 {
		return min(2*copies, copies+c.deficit)
	}
	return (c.items + 1) * copies
}

// taken is what copies have taken of devices: how many one copy has of its own, and of which
// drivers, and the same of those that all of them share.
type taken struct {
	own, together int
	drivers       map[string]bool
	shared        map[string]bool
}

// note notes what a copy has taken.
func (t *taken) note(s *Snapshot, pod *corev1.Pod) {
	if s.devices == nil {
		return
	}
	own, together := 0, 0
	for i := range pod.Spec.ResourceClaims {
		name, _, err := resourceclaim.Name(pod, &pod.Spec.ResourceClaims[i])
		if err != nil || name == nil {
			continue
		}
		claim, err := s.devices.claims.Get(pod.Namespace, *name)
		if err != nil || claim.Status.Allocation == nil {
			continue
		}
		into, number := &t.shared, &together
		if pod.Spec.ResourceClaims[i].ResourceClaimTemplateName != nil {
			into, number = &t.drivers, &own
		}
		*number += len(claim.Status.Allocation.Devices.Results)
		if *into == nil {
			*into = map[string]bool{}
		}
		for _, result := range claim.Status.Allocation.Devices.Results {
			(*into)[result.Driver] = true
		}
	}
	t.own, t.together = max(t.own, own), max(t.together, together)
}

// contestOf returns how copies of a pod get in one another's way on some nodes.
func (s *Snapshot) contestOf(pod *corev1.Pod, names map[string]bool, devices *taken) (contest, error) {
	if !OwnsClaims(pod) {
		return contest{}, nil
	}
	nodes := s.nodesOf(names)
	items := devices.own
	var sources []*reaches
	for _, claim := range s.VolumeClaims(pod) {
		found, err := s.volumeReaches(claim, nodes)
		if err != nil {
			return contest{}, err
		}
		sources = append(sources, found)
		items++
	}
	for _, driver := range slices.Sorted(maps.Keys(devices.drivers)) {
		found, err := s.deviceReaches(driver, nodes)
		if err != nil {
			return contest{}, err
		}
		sources = append(sources, found)
	}
	return judge(sources, len(nodes), items), nil
}

// judge finds the reaches that have nodes in common with others. Where those of one source have
// none, and of all sources there is but one of several nodes among them, each copy takes the same
// from the others wherever it runs.
func judge(sources []*reaches, nodes, items int) contest {
	apart := true
	var all []*reach
	for _, source := range sources {
		for _, group := range joined(source.list, nodes) {
			apart = apart && len(group) == 1
		}
		all = append(all, source.list...)
	}
	c := contest{items: items}
	for _, group := range joined(all, nodes) {
		together, wide := map[int]bool{}, map[string]bool{}
		several, partial := 0, 0
		for _, one := range group {
			for _, node := range one.nodes {
				together[node] = true
			}
			if len(one.nodes) > 1 {
				wide[one.key] = true
				several += one.items
			}
		}
		for _, one := range group {
			if len(one.nodes) < len(together) {
				partial += one.items
			}
		}
		apart = apart && len(wide) <= 1
		c.deficit += min(several, partial)
	}
	if apart {
		return contest{}
	}
	return c
}

// joined groups reaches that have nodes in common, with each other or with the same third one.
func joined(list []*reach, nodes int) (groups [][]*reach) {
	leader := make([]int, len(list)) // of reaches, by index
	for i := range leader {
		leader[i] = i
	}
	first := make([]int, nodes) // the first reach that a node is part of, and 1
	root := func(i int) int {
		for leader[i] != i {
			i = leader[i]
		}
		return i
	}
	for i, one := range list {
		for _, node := range one.nodes {
			if first[node] == 0 {
				first[node] = i + 1
			}
			a, b := root(i), root(first[node]-1)
			leader[max(a, b)] = min(a, b)
		}
	}
	at := map[int]int{}
	for i, one := range list {
		group, known := at[root(i)]
		if !known {
			group = len(groups)
			at[root(i)] = group
			groups = append(groups, nil)
		}
		groups[group] = append(groups[group], one)
	}
	return groups
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"fmt"
	"slices"
	"strings"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/binding"
)

// sizes remembers by what the clusters were weighed last. Nodes come and go, and no cluster is to
// change its scheduler for that: sizes are looked at again when a cluster or a scheduler comes or
// goes, when a cluster gets its first nodes, or when a scheduler has more than twice what it
// should. A new leader begins with what it finds.
type sizes struct {
	// members are the clusters and schedulers for which the sizes are.
	members string
	known   map[string]int
}

func sizeOf(c *berthv1alpha1.Cluster) int { return binding.SizeOf(int(c.Status.NodeCount)) }

// weigh sets the sizes of the inputs.
func (s *sizes) weigh(clusters []*berthv1alpha1.Cluster, inputs []binding.BoundCluster, schedulers binding.Schedulers) {
	now := make(map[string]int, len(clusters))
	for _, c := range clusters {
		now[c.Name] = sizeOf(c)
	}
	if members := membersOf(inputs, schedulers); members != s.members || unbalanced(now, inputs, schedulers) {
		s.members, s.known = members, now
	}
	for i := range inputs {
		name := inputs[i].Name
		if s.known[name] == 0 {
			s.known[name] = now[name]
		}
		inputs[i].Size = s.known[name]
	}
}

// membersOf names the clusters and the schedulers that take some, with their weights.
func membersOf(inputs []binding.BoundCluster, schedulers binding.Schedulers) string {
	names := make([]string, 0, len(inputs)+len(schedulers))
	for i := range inputs {
		names = append(names, inputs[i].Name)
	}
	for name, s := range schedulers {
		if s.Takes() {
			names = append(names, fmt.Sprint("/", name, "=", s.Weight))
		}
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

// unbalanced reports whether a scheduler has more than twice its share and a cluster, as the sizes
// are now. What users have pinned does not count.
func unbalanced(now map[string]int, inputs []binding.BoundCluster, schedulers binding.Schedulers) bool {
	loads, total, largest, weights := map[string]int{}, 0, 1, 0
	for i := range inputs {
		size := max(1, now[inputs[i].Name])
		total, largest = total+size, max(largest, size)
		if inputs[i].Pin == "" {
			loads[inputs[i].Record.Home] += size
		}
	}
	for _, s := range schedulers {
		if s.Takes() {
			weights += max(1, s.Weight)
		}
	}
	for name, s := range schedulers {
		if s.Takes() && loads[name]*weights > 2*(total*max(1, s.Weight)+largest*weights) {
			return true
		}
	}
	return false
}

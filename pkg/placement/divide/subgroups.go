// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package divide

import "k8s.io/apimachinery/pkg/labels"

// Selection is the clusters that a subscriber selects, of which some are to be chosen.
type Selection struct {
	// Selector selects clusters by their labels.
	Selector labels.Selector

	// Clusters is how many are chosen; 0 or less stands for all.
	Clusters int
}

// Subgroups chooses of each group the first clusters, as many as it says. The clusters, given by
// their labels, are ordered from the best to the worst. It returns for each whether some group has
// chosen it; one that several groups choose counts for each of them, so the order of the groups
// does not matter.
func Subgroups(clusters []labels.Set, groups []Selection) []bool {
	chosen := make([]bool, len(clusters))
	for _, group := range groups {
		left := group.Clusters
		for i := range clusters {
			if !group.Selector.Matches(clusters[i]) {
				continue
			}
			chosen[i] = true
			if left--; left == 0 {
				break
			}
		}
	}
	return chosen
}

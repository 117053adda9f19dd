// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"slices"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// Claimants returns the names of all Clusters that name or select the node, the one to which it belongs first, each once.
func (x *Index) Claimants(nodeName string, labels map[string]string) []string {
	claimants := slices.Clone(x.byName[nodeName])
	named := len(claimants)
	for _, key := range x.keys {
		value, labelled := labels[key]
		if !labelled {
			continue
		}
		for _, c := range x.byLabel[pair{key, value}] {
			if selects(c, labels) && !slices.Contains(claimants[:named], c) {
				claimants = append(claimants, c)
			}
		}
	}
	slices.SortFunc(claimants[named:], func(a, b *berthv1alpha1.Cluster) int { return x.rank[a] - x.rank[b] })
	names := make([]string, len(claimants))
	for i, c := range claimants {
		names[i] = c.Name
	}
	return names
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package membership decides to which Cluster each node belongs. A node belongs to at most one: a Cluster that names the
// node beats one that selects it by labels, then the older Cluster wins, then the smaller name. The nodes of a Cluster are
// the union of those it names and those it selects; a Cluster that does neither has none.
package membership

import (
	"slices"
	"strings"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// Index tells the Cluster of a node. It is immutable and safe for concurrent use.
type Index struct {
	byName map[string][]*berthv1alpha1.Cluster
	// byLabel lists Clusters under one pair of their matchLabels, so that a lookup touches only Clusters that share a label
	// with the node; byKey tells which label keys are in use.
	byLabel map[pair][]*berthv1alpha1.Cluster
	keys    []string
	rank    map[*berthv1alpha1.Cluster]int
}

type pair struct{ key, value string }

// NewIndex returns an index of the Clusters, which must not be changed afterwards.
func NewIndex(clusters []*berthv1alpha1.Cluster) *Index {
	sorted := slices.Clone(clusters)
	slices.SortFunc(sorted, compare)
	x := &Index{
		byName:  map[string][]*berthv1alpha1.Cluster{},
		byLabel: map[pair][]*berthv1alpha1.Cluster{},
		rank:    make(map[*berthv1alpha1.Cluster]int, len(sorted)),
	}
	rarity := map[pair]int{}
	for _, c := range sorted {
		for key, value := range c.Spec.MatchLabels {
			rarity[pair{key, value}]++
		}
	}
	used := map[string]bool{}
	for i, c := range sorted {
		x.rank[c] = i
		for _, node := range c.Spec.Nodes {
			x.byName[node] = append(x.byName[node], c)
		}
		if len(c.Spec.MatchLabels) == 0 {
			continue
		}
		p := rarest(c.Spec.MatchLabels, rarity)
		x.byLabel[p] = append(x.byLabel[p], c)
		if !used[p.key] {
			used[p.key] = true
			x.keys = append(x.keys, p.key)
		}
	}
	slices.Sort(x.keys)
	return x
}

// rarest returns the pair that the fewest Clusters ask for: the one that tells most.
func rarest(matchLabels map[string]string, rarity map[pair]int) pair {
	var best pair
	found := false
	for key, value := range matchLabels {
		p := pair{key, value}
		if !found || rarity[p] < rarity[best] || rarity[p] == rarity[best] && key < best.key {
			best, found = p, true
		}
	}
	return best
}

// ClusterOf returns the name of the Cluster to which the node belongs, and false if it belongs to none. It does not
// allocate.
func (x *Index) ClusterOf(nodeName string, labels map[string]string) (cluster string, found bool) {
	if winner := x.owner(nodeName, labels); winner != nil {
		return winner.Name, true
	}
	return "", false
}

func (x *Index) owner(nodeName string, labels map[string]string) *berthv1alpha1.Cluster {
	if named := x.byName[nodeName]; len(named) > 0 {
		return named[0]
	}
	var winner *berthv1alpha1.Cluster
	for _, key := range x.keys {
		value, labelled := labels[key]
		if !labelled {
			continue
		}
		for _, c := range x.byLabel[pair{key, value}] {
			if winner != nil && x.rank[c] >= x.rank[winner] {
				break
			}
			if selects(c, labels) {
				winner = c
				break
			}
		}
	}
	return winner
}

func selects(c *berthv1alpha1.Cluster, labels map[string]string) bool {
	for key, value := range c.Spec.MatchLabels {
		if actual, labelled := labels[key]; !labelled || actual != value {
			return false
		}
	}
	return len(c.Spec.MatchLabels) > 0
}

func compare(a, b *berthv1alpha1.Cluster) int {
	if order := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); order != 0 {
		return order
	}
	return strings.Compare(a.Name, b.Name)
}

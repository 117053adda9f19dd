// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package membership decides to which Cluster each node belongs. A node belongs to at most one: a
// Cluster that names the node beats one that selects it by labels, then the older Cluster wins,
// then the smaller name. The nodes of a Cluster are the union of those it names and those it
// selects; a Cluster that does neither has none.
package membership

import (
	"iter"
	"slices"
	"strings"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// Index tells the Cluster of a node. It is immutable and safe for concurrent use.
type Index struct {
	// byName lists the Clusters that name a node, strongest first.
	byName map[string][]*claim
	// byLabel lists each Cluster under one pair of its matchLabels, strongest first, so that a
	// lookup touches only Clusters that share that pair with the node. The keys of these pairs are
	// in keys.
	byLabel map[label][]*claim
	keys    []string
}

// claim is what a Cluster asks for. Of two claims of the same sort the one with the smaller rank is
// stronger.
type claim struct {
	cluster string
	rank    int
	labels  []label
}

type label struct{ key, value string }

// NewIndex returns an index of the Clusters. It keeps nothing of the objects but their strings.
func NewIndex(clusters []*berthv1alpha1.Cluster) *Index {
	sorted := slices.Clone(clusters)
	slices.SortFunc(sorted, compare)
	x := &Index{byName: map[string][]*claim{}, byLabel: map[label][]*claim{}}
	frequency := map[label]int{}
	claims := make([]claim, len(sorted))
	for rank, cluster := range sorted {
		c := &claims[rank]
		*c = claim{cluster: cluster.Name, rank: rank, labels: make([]label, 0, len(cluster.Spec.MatchLabels))}
		for key, value := range cluster.Spec.MatchLabels {
			c.labels = append(c.labels, label{key, value})
			frequency[label{key, value}]++
		}
		for _, node := range cluster.Spec.Nodes {
			x.addNamed(node, c)
		}
	}
	for i := range claims {
		if c := &claims[i]; len(c.labels) > 0 {
			x.addLabelled(rarest(c.labels, frequency), c)
		}
	}
	return x
}

func (x *Index) addNamed(node string, c *claim) {
	named := x.byName[node]
	if last := len(named) - 1; last >= 0 && named[last] == c {
		return // the Cluster names the node twice
	}
	x.byName[node] = append(named, c)
}

func (x *Index) addLabelled(l label, c *claim) {
	x.byLabel[l] = append(x.byLabel[l], c)
	if at, found := slices.BinarySearch(x.keys, l.key); !found {
		x.keys = slices.Insert(x.keys, at, l.key)
	}
}

// rarest returns the label that the fewest Clusters ask for: the one that tells most. The smaller
// key decides between equals, so that Clusters with the same keys share one.
func rarest(labels []label, frequency map[label]int) label {
	return slices.MinFunc(labels, func(a, b label) int {
		if d := frequency[a] - frequency[b]; d != 0 {
			return d
		}
		return strings.Compare(a.key, b.key)
	})
}

// ClusterOf returns the name of the Cluster to which the node belongs, and false if it belongs to
// none. It does not allocate.
func (x *Index) ClusterOf(nodeName string, labels map[string]string) (cluster string, found bool) {
	if named := x.byName[nodeName]; len(named) > 0 {
		return named[0].cluster, true
	}
	var winner *claim
	for candidates := range x.candidates(labels) {
		for _, c := range candidates {
			if winner != nil && winner.rank < c.rank {
				break
			}
			if c.selects(labels) {
				winner = c
				break
			}
		}
	}
	if winner == nil {
		return "", false
	}
	return winner.cluster, true
}

// Claimants returns the names of all Clusters that name or select the node, the one to which it
// belongs first, each once.
func (x *Index) Claimants(nodeName string, labels map[string]string) []string {
	claims := slices.Clone(x.byName[nodeName])
	named := len(claims)
	for candidates := range x.candidates(labels) {
		for _, c := range candidates {
			if c.selects(labels) && !slices.Contains(claims[:named], c) {
				claims = append(claims, c)
			}
		}
	}
	slices.SortFunc(claims[named:], func(a, b *claim) int { return a.rank - b.rank })
	names := make([]string, len(claims))
	for i, c := range claims {
		names[i] = c.cluster
	}
	return names
}

// candidates yields the claims that share their label in the index with the node: lists sorted by
// strength, each claim in one of them. It goes through the labels of the node or through the keys
// of the index, whichever are fewer.
func (x *Index) candidates(labels map[string]string) iter.Seq[[]*claim] {
	return func(yield func([]*claim) bool) {
		if len(labels) < len(x.keys) {
			for key, value := range labels {
				if !yield(x.byLabel[label{key, value}]) {
					return
				}
			}
			return
		}
		for _, key := range x.keys {
			if value, labelled := labels[key]; labelled && !yield(x.byLabel[label{key, value}]) {
				return
			}
		}
	}
}

// selects reports whether the node carries all the labels.
func (c *claim) selects(labels map[string]string) bool {
	for _, l := range c.labels {
		if value, labelled := labels[l.key]; !labelled || value != l.value {
			return false
		}
	}
	return true
}

func compare(a, b *berthv1alpha1.Cluster) int {
	if order := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); order != 0 {
		return order
	}
	return strings.Compare(a.Name, b.Name)
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"slices"
	"strings"
)

// Tally counts what nodes say, by cluster. The zero value is empty. It is not safe for concurrent
// use.
type Tally struct {
	clusters map[string]*counted
	// last is where the node before was counted, and of is its cluster: often that of the next one.
	last *counted
	of   string
}

type counted struct {
	nodes   int
	reasons []Reason
}

// Add counts a node of a cluster with the reasons that it gives; the cluster is empty for a node in
// none.
func (t *Tally) Add(cluster string, reasons []string) {
	c := t.last
	if c == nil || t.of != cluster {
		c = t.in(cluster)
		t.last, t.of = c, cluster
	}
	c.nodes++
	for _, reason := range reasons {
		c.reasons = plus(c.reasons, Reason{Text: reason, Nodes: 1})
	}
}

// in returns where nodes of a cluster are counted.
func (t *Tally) in(cluster string) *counted {
	c := t.clusters[cluster]
	if c == nil {
		if t.clusters == nil {
			t.clusters = map[string]*counted{}
		}
		c = &counted{}
		t.clusters[cluster] = c
	}
	return c
}

// Reasons returns what was counted: one by one for the MaxClusters clusters with the most nodes, by
// the number of nodes and then by name, and together for the others.
func (t *Tally) Reasons() *Reasons {
	names := make([]string, 0, len(t.clusters))
	for name := range t.clusters {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(t.clusters[b].nodes, t.clusters[a].nodes), strings.Compare(a, b))
	})
	r := &Reasons{}
	for i, name := range names {
		counts := t.clusters[name].reasons
		if i < MaxClusters {
			r.Clusters = append(r.Clusters, ClusterReasons{Cluster: name, Reasons: ranked(counts)})
			continue
		}
		r.OtherClusters++
		for _, reason := range counts {
			r.Others = plus(r.Others, reason)
		}
	}
	r.Others = ranked(r.Others)
	return r
}

// plus adds a reason to those with the same text.
func plus(reasons []Reason, reason Reason) []Reason {
	for i := range reasons {
		if reasons[i].Text == reason.Text {
			reasons[i].Nodes += reason.Nodes
			return reasons
		}
	}
	return append(reasons, reason)
}

// ranked sorts reasons, those that most nodes give first.
func ranked(reasons []Reason) []Reason {
	slices.SortFunc(reasons, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(b.Nodes, a.Nodes), strings.Compare(a.Text, b.Text))
	})
	return reasons
}

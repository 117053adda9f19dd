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
}

type counted struct {
	nodes   int
	reasons []Reason
}

// Add counts a node of a cluster with the reasons that it gives; the cluster is empty for a node in
// none.
func (t *Tally) Add(cluster string, reasons []string) {
	c := t.clusters[cluster]
	if c == nil {
		if t.clusters == nil {
			t.clusters = map[string]*counted{}
		}
		c = &counted{}
		t.clusters[cluster] = c
	}
	c.nodes++
	for _, reason := range reasons {
		c.reasons = plus(c.reasons, Reason{Text: reason, Nodes: 1})
	}
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
	at := slices.IndexFunc(reasons, func(r Reason) bool { return r.Text == reason.Text })
	if at < 0 {
		return append(reasons, reason)
	}
	reasons[at].Nodes += reason.Nodes
	return reasons
}

// ranked sorts reasons, those that most nodes give first.
func ranked(reasons []Reason) []Reason {
	slices.SortFunc(reasons, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(b.Nodes, a.Nodes), strings.Compare(a.Text, b.Text))
	})
	return reasons
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package remedy

import (
	"fmt"
	"strings"

	"berth.dev/berth/pkg/explain"
)

// Heading stands above the rows of an answer.
const Heading = "It would run now if (one row, with all of its changes, is enough)"

// Row is a line of a table of remedies. Further changes of the same remedy have rows of their own,
// without Cluster and Node.
type Row struct{ Cluster, Node, Change string }

// Rows returns the remedies for people.
func (a *Answer) Rows() []Row {
	var rows []Row
	for i := range a.Remedies {
		found := &a.Remedies[i]
		for j, change := range found.Changes {
			r := Row{Change: "and " + change}
			if j == 0 {
				r = Row{Cluster: found.Cluster, Node: found.Node, Change: change}
				if r.Cluster == "" {
					r.Cluster = "<none>"
				}
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// Says returns what the rows do not tell, in sentences.
func (a *Answer) Says() []string {
	var says []string
	if a.Node != "" {
		return append(says, fmt.Sprintf("As things are now, node %s in %s would take it: it runs at the next attempt of the scheduler.",
			a.Node, explain.InCluster(a.Cluster)))
	}
	if len(a.Remedies) == 0 {
		says = append(says, "No change that was tried would let it run now.")
	}
	for _, h := range a.Helpless {
		says = append(says, fmt.Sprintf("Nothing that was tried helps in %s: %s", explain.InCluster(h.Cluster), strings.Join(h.Reasons, "; ")))
	}
	if a.Untried > 0 {
		says = append(says, fmt.Sprintf("Further clusters, farther from taking it, were not tried: %d", a.Untried))
	}
	return says
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"strings"

	"berth.dev/berth/pkg/explain"
	"berth.dev/berth/pkg/placement/amount"
)

// resourceRows has a row for each pool of each ClusterResource that the pod asks for.
func resourceRows(e *explain.PodAnswer) [][]any {
	var rows [][]any
	for i := range e.Resources {
		r := &e.Resources[i]
		for k := range r.Pools {
			p := &r.Pools[k]
			rows = append(rows, []any{
				r.Name, amount.Text(r.Quantity), p.Name, amount.Text(p.Allocatable), amount.Text(p.Allocated), amount.Text(p.Free), p.Nodes, p.Says,
			})
		}
	}
	return rows
}

func resourcesText(e *explain.PodAnswer) string {
	texts := make([]string, len(e.Resources))
	for i := range e.Resources {
		texts[i] = amount.Text(e.Resources[i].Quantity) + " of " + e.Resources[i].Name
	}
	return strings.Join(texts, ", ")
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package get

import (
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/explain/placement"
)

// nothing stands for what has no name, unknown for a number that cannot be known.
const (
	nothing = "<none>"
	unknown = "-"
)

var placementColumns = []output.Column{
	{Name: "Workload"}, {Name: "Cluster"}, {Name: "Desired"}, {Name: "Current"}, {Name: "Short"}, {Name: "Pending"}, {Name: "Nodes"},
	{Name: "Old", Wide: true}, {Name: "Cluster-Nodes", Wide: true}, {Name: "Ready-Nodes", Wide: true},
	{Name: "Misplaced", Wide: true}, {Name: "Policy", Wide: true},
}

// table has a row for each workload and cluster.
func table(workloads []placement.Workload, namespaced bool) ([]output.Column, [][]any) {
	columns := placementColumns
	if namespaced {
		columns = append([]output.Column{{Name: "Namespace"}}, columns...)
	}
	var rows [][]any
	for i := range workloads {
		w := &workloads[i]
		for _, row := range clusterRows(w) {
			row = append(row, w.Misplaced, w.Policy)
			if namespaced {
				row = append([]any{w.Namespace}, row...)
			}
			rows = append(rows, row)
		}
	}
	return columns, rows
}

// clusterRows has a row for each cluster of a workload. Where the share is not known, clusters
// without a pod are left out.
func clusterRows(w *placement.Workload) [][]any {
	var rows [][]any
	for _, c := range w.Clusters {
		if w.Replicas == nil && c.Current+c.Old == 0 {
			continue
		}
		rows = append(rows, []any{
			w.Title(), nameOf(c), desiredOf(c), c.Current, c.Pending, w.Pending, c.NodesUsed, c.Old, c.Nodes, c.ReadyNodes,
		})
	}
	if len(rows) == 0 {
		rows = append(rows, []any{w.Title(), nothing, unknown, 0, 0, w.Pending, 0, 0, 0, 0})
	}
	return rows
}

func nameOf(c placement.Cluster) string {
	if c.Name == "" {
		return nothing
	}
	return c.Name
}

func desiredOf(c placement.Cluster) any {
	if c.Desired == nil {
		return unknown
	}
	return *c.Desired
}

// printNotes tells what people should know beside the table.
func printNotes(w io.Writer, namespace string, found placements) {
	for i := range found.Items {
		item := &found.Items[i]
		for _, note := range item.Notes {
			fmt.Fprintf(w, "%s in namespace %q: %s\n", item.Title(), item.Namespace, output.OneLine(note))
		}
	}
	where := fmt.Sprintf("namespace %q", namespace)
	if namespace == metav1.NamespaceAll {
		where = "any namespace"
	}
	if len(found.Items) == 0 {
		fmt.Fprintf(w, "No placed workloads found in %s.\n", where)
	}
	if found.unserved > 0 {
		fmt.Fprintf(w, "Policies select %d more, but their pods use another scheduler; name one of them to learn more.\n",
			found.unserved)
	}
}

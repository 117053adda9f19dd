// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/explain/placement"
	"berth.dev/berth/pkg/simulator/whatif"
)

const none = "<none>"

// printTables prints what was found, for people.
func printTables(w io.Writer, r *whatif.Result) error {
	if len(r.Workloads) == 0 {
		return nil
	}
	if err := printShares(w, r); err != nil {
		return err
	}
	var waiting, held [][]any
	for i := range r.Workloads {
		of := &r.Workloads[i]
		title := placement.Title(of.Kind, of.Name)
		for _, group := range of.Waiting {
			waiting = append(waiting, []any{of.Namespace, title, group.Pods, output.OneLine(group.Reason)})
		}
		if of.Held != "" {
			held = append(held, []any{of.Namespace, title, output.OneLine(of.Held)})
		}
	}
	kept := make([][]any, len(r.Kept))
	for i, k := range r.Kept {
		kept[i] = []any{k.Namespace, k.Pod, k.Node, orNone(k.Cluster), output.OneLine(k.Reason)}
	}
	evicted := make([][]any, len(r.Evictions))
	for i, e := range r.Evictions {
		evicted[i] = []any{e.Namespace, e.Pod, orNone(e.Cluster), orNone(e.To), output.OneLine(e.Reason)}
	}
	for _, table := range []struct {
		title   string
		columns []string
		rows    [][]any
	}{
		{"Would wait:", []string{"Namespace", "Workload", "Pods", "Reason"}, waiting},
		{"Would be evicted:", []string{"Namespace", "Pod", "From", "To", "Reason"}, evicted},
		{"Would not leave their nodes:", []string{"Namespace", "Pod", "Node", "Cluster", "Reason"}, kept},
		{"Would stay outside of their share:", []string{"Namespace", "Workload", "Reason"}, held},
	} {
		if len(table.rows) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s\n", table.title)
		if err := output.Rows(w, false, columnsOf(table.columns...), table.rows); err != nil {
			return err
		}
	}
	return nil
}

func columnsOf(names ...string) []output.Column {
	columns := make([]output.Column, len(names))
	for i, name := range names {
		columns[i].Name = name
	}
	return columns
}

func orNone(text string) string {
	if text == "" {
		return none
	}
	return output.OneLine(text)
}

// printShares prints the table of workloads and Clusters.
func printShares(w io.Writer, r *whatif.Result) error {
	var clusters []string
	for i := range r.Workloads {
		for _, c := range r.Workloads[i].Clusters {
			if !slices.Contains(clusters, c.Name) {
				clusters = append(clusters, c.Name)
			}
		}
	}
	slices.Sort(clusters)
	names := append(make([]string, 0, len(clusters)+3), "Namespace", "Workload")
	for _, cluster := range clusters {
		names = append(names, orNone(cluster))
	}
	rows := make([][]any, len(r.Workloads))
	for i := range r.Workloads {
		rows[i] = sharesOf(&r.Workloads[i], clusters)
	}
	return output.Rows(w, false, columnsOf(append(names, "Waiting")...), rows)
}

func sharesOf(of *whatif.Workload, clusters []string) []any {
	row := []any{of.Namespace, placement.Title(of.Kind, of.Name)}
	for _, cluster := range clusters {
		cell := "0"
		if i := slices.IndexFunc(of.Clusters, func(c whatif.ClusterPods) bool { return c.Name == cluster }); i >= 0 {
			cell = strconv.Itoa(of.Clusters[i].After)
			if before := of.Clusters[i].Before; before != of.Clusters[i].After {
				cell = fmt.Sprintf("%d -> %s", before, cell)
			}
		}
		row = append(row, cell)
	}
	waiting := 0
	for _, group := range of.Waiting {
		waiting += group.Pods
	}
	return append(row, waiting)
}

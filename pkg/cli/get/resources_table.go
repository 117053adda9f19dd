// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package get

import (
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/placement/amount"
)

var resourceColumns = []output.Column{
	{Name: "Name"}, {Name: "Pool"}, {Name: "Capacity"}, {Name: "Allocated"}, {Name: "Free"}, {Name: "Holders"}, {Name: "Waiting"},
	{Name: "Allocatable", Wide: true}, {Name: "Node-Selector", Wide: true}, {Name: "Mode", Wide: true},
}

// resourceRows has a row for each pool, and one for a ClusterResource without pools.
func resourceRows(found *resources) [][]any {
	var rows [][]any
	for i := range found.Items {
		item := &found.Items[i]
		for k := range item.Pools {
			p := &item.Pools[k]
			selector := nothing
			if len(p.NodeSelector) > 0 {
				selector = labels.Set(p.NodeSelector).String()
			}
			rows = append(rows, []any{
				item.Name, p.Name, amountOf(p.Capacity), amount.Text(p.Allocated), amount.Text(p.Free), p.Holders, item.Waiting,
				amountOf(p.Allocatable), selector, item.Mode,
			})
		}
		if len(item.Pools) == 0 {
			rows = append(rows, []any{
				item.Name, nothing, unknown, unknown, unknown, 0, item.Waiting, unknown, nothing, item.Mode,
			})
		}
	}
	return rows
}

func amountOf(quantity *resource.Quantity) string {
	if quantity == nil {
		return unknown
	}
	return amount.Text(*quantity)
}

// printResourceNotes tells what people should know beside the table; of a single ClusterResource
// also who holds most.
func printResourceNotes(w io.Writer, found *resources, single bool) {
	if len(found.Items) == 0 {
		fmt.Fprintln(w, "No ClusterResources found.")
	}
	for i := range found.Items {
		item := &found.Items[i]
		if item.outdated {
			fmt.Fprintf(w, "%s: the status is not up to date; check that berth-controller-manager is running\n", item.Name)
		}
		if !item.Ready && item.Message != "" {
			fmt.Fprintf(w, "%s is not ready: %s\n", item.Name, output.OneLine(item.Message))
		}
		for _, note := range []string{item.over, item.inUse} {
			if note != "" {
				fmt.Fprintf(w, "%s: %s\n", item.Name, output.OneLine(note))
			}
		}
		if single && len(item.TopNamespaces) > 0 {
			fmt.Fprintf(w, "%s is held by %s\n", item.Name, output.OneLine(holdersOf(item.TopNamespaces)))
		}
	}
}

func holdersOf(namespaces []berthv1alpha1.NamespaceAllocation) string {
	texts := make([]string, len(namespaces))
	for i := range namespaces {
		n := &namespaces[i]
		pods := "pods"
		if n.Holders == 1 {
			pods = "pod"
		}
		texts[i] = fmt.Sprintf("namespace %s: %s (%d %s)", n.Namespace, amount.Text(n.Quantity), n.Holders, pods)
	}
	return strings.Join(texts, ", ")
}

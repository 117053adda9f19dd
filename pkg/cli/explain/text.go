// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"io"
	"strings"

	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/explain"
	"berth.dev/berth/pkg/explain/placement"
)

// selections tells in words how a policy came to be in force.
var selections = map[string]string{
	"annotation": "the pod asks for it by annotation",
	"name":       "it names the workload",
	"labels":     "it selects the labels of the workload",
	"kind":       "it selects all workloads of the kind",
}

// printPod writes the explanation for people.
func printPod(w io.Writer, e *explain.PodAnswer) error {
	field(w, "Pod", e.Namespace+"/"+e.Pod)
	field(w, "State", stateText(e))
	field(w, "Workload", workloadText(e))
	if e.Subscription != nil {
		field(w, "Feed of", "subscription/"+e.Subscription.Name)
	}
	field(w, "Policy", policyText(e))
	if len(e.Resources) > 0 {
		field(w, "Asks for", resourcesText(e))
	}
	if e.FixedSeat != nil {
		field(w, "Seat", fmt.Sprintf("%d, the number its controller gave it", *e.FixedSeat))
	}
	fmt.Fprintln(w, "\nWhy:")
	for _, reason := range e.Reasons {
		fmt.Fprintln(w, "  -", output.OneLine(reason))
	}
	if e.Scheduler != nil {
		fmt.Fprintf(w, "  - the scheduler says (%s): %s\n",
			output.OneLine(e.Scheduler.Reason), output.OneLine(e.Scheduler.Message))
	}
	if len(e.Clusters) > 0 {
		fmt.Fprintln(w)
		if err := output.Rows(w, false, clusterColumns, clusterRows(e)); err != nil {
			return err
		}
		if *e.OtherNodes > 0 {
			fmt.Fprintf(w, "\nNodes in no cluster of the policy: %d\n", *e.OtherNodes)
		}
	}
	rows := resourceRows(e)
	if len(rows) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	return output.Rows(w, false, resourceColumns, rows)
}

func field(w io.Writer, name, value string) {
	fmt.Fprintf(w, "%-10s %s\n", name+":", output.OneLine(value))
}

func stateText(e *explain.PodAnswer) string {
	if e.Placement == nil {
		return string(e.State)
	}
	text := fmt.Sprintf("%s on node %s in %s", e.State, e.Placement.Node, explain.InCluster(e.Placement.Cluster))
	if e.Placement.Seat != nil {
		text += fmt.Sprintf(", seat %d", *e.Placement.Seat)
	}
	return text
}

func workloadText(e *explain.PodAnswer) string {
	if e.Workload == nil {
		return "unknown"
	}
	title := placement.Title(e.Workload.Kind, e.Workload.Name)
	if e.Workload.Replicas == nil {
		return title
	}
	return fmt.Sprintf("%s, replicas: %d", title, *e.Workload.Replicas)
}

func policyText(e *explain.PodAnswer) string {
	if e.Policy == nil {
		return "none"
	}
	text := e.Policy.Name + ", because " + selections[e.Policy.SelectedBy]
	if len(e.Policy.Over) > 0 {
		text += "; it wins over " + strings.Join(e.Policy.Over, ", ")
	}
	return text
}

var clusterColumns = []output.Column{
	{Name: "Cluster"}, {Name: "Desired"}, {Name: "Current"}, {Name: "Free-Seats"}, {Name: "Nodes"}, {Name: "Usable"},
	{Name: "Not-Ready"}, {Name: "Cordoned"}, {Name: "Tainted"}, {Name: "Unmatched"}, {Name: "Says"},
}

var resourceColumns = []output.Column{
	{Name: "Resource"}, {Name: "Asks"}, {Name: "Pool"}, {Name: "Allocatable"}, {Name: "Allocated"}, {Name: "Free"},
	{Name: "Nodes"}, {Name: "Says"},
}

func clusterRows(e *explain.PodAnswer) [][]any {
	rows := make([][]any, 0, len(e.Clusters))
	for i := range e.Clusters {
		c := &e.Clusters[i]
		var desired, free any = "-", "-"
		if c.Desired != nil {
			desired, free = *c.Desired, c.FreeSeats
		}
		rows = append(rows, []any{
			c.Name, desired, c.Current, free, c.Nodes.Total, c.Nodes.Usable,
			c.Nodes.NotReady, c.Nodes.Cordoned, c.Nodes.Tainted, c.Nodes.Unmatched, c.Says,
		})
	}
	return rows
}

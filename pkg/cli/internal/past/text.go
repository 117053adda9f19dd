// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package past

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/history"
	"berth.dev/berth/pkg/placement/names"
)

var columns = []output.Column{{Name: "Time"}, {Name: "Times"}, {Name: "About"}, {Name: "Decision"}, {Name: "Says"}, {Name: "Process"}}

// told is an entry with who tells it.
type told struct {
	history.Entry
	process string
}

// Print writes the answers for people: what was decided in the order of time, and what each process
// can know.
func Print(w io.Writer, answers []Answer) error {
	var all []told
	for i := range answers {
		for _, e := range answers[i].Entries {
			all = append(all, told{e, answers[i].Process})
		}
	}
	slices.SortStableFunc(all, func(a, b told) int { return a.Time.Compare(b.Time) })
	fmt.Fprintln(w, "\nHistory:")
	rows := make([][]any, len(all))
	for i := range all {
		e := &all[i]
		rows[i] = []any{
			clockTime(e.Time), e.Times, strings.ToLower(e.About.Kind) + "/" + e.About.Name, string(e.Decision), says(&e.Entry), e.process,
		}
	}
	switch {
	case Unheard(answers):
		fmt.Fprintln(w, "  nothing is known: no process could be asked")
	case len(rows) == 0:
		fmt.Fprintln(w, "  nothing is remembered")
	}
	if err := output.Rows(w, false, columns, rows); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for i := range answers {
		fmt.Fprintln(w, output.OneLine(known(&answers[i])))
	}
	return nil
}

// known says what a process can know.
func known(a *Answer) string {
	if a.Error != "" {
		return fmt.Sprintf("%s cannot be asked: %s", a.Process, a.Error)
	}
	text := fmt.Sprintf("%s remembers since %s, when it started: what was decided before is lost", a.Process, clockTime(a.Since))
	if a.Dropped > 0 {
		text += fmt.Sprintf("; %d older entries dropped", a.Dropped)
	}
	if a.Older > 0 {
		text += fmt.Sprintf("; %d older entries of this are not shown", a.Older)
	}
	return text
}

func clockTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// maxTold bounds the clusters of which reasons are told in a line.
const maxTold = 5

// noCluster stands for the cluster of a node in none.
const noCluster = "none"

// says tells an entry in one line.
func says(e *history.Entry) string {
	var parts []string
	if e.Place != nil {
		parts = append(parts, placeText(e.Place))
	}
	if e.For != nil {
		parts = append(parts, "for "+forText(e.For))
	}
	if e.Message != "" {
		parts = append(parts, e.Message)
	}
	if e.Reasons != nil {
		parts = append(parts, reasonsText(e.Reasons))
	}
	return strings.Join(parts, "; ")
}

// forText names who asked for something, if that may be told.
func forText(o *history.Object) string {
	if o.Name == "" {
		return strings.ToLower(o.Kind) + " that you may not get"
	}
	return strings.ToLower(o.Kind) + "/" + o.Name
}

func placeText(p *history.Place) string {
	parts := []string{fmt.Sprintf("on node %s in cluster %s", p.Node, cmp.Or(p.Cluster, noCluster))}
	if p.Policy != "" {
		parts[0] += " by policy " + p.Policy
	}
	if p.Seat != nil {
		parts = append(parts, fmt.Sprintf("seat %d", *p.Seat))
	}
	for _, c := range p.Charges {
		parts = append(parts, fmt.Sprintf("%s of %s/%s", c.Quantity, c.Resource, c.Pool))
	}
	return strings.Join(parts, ", ")
}

// reasonsText tells reasons by cluster.
func reasonsText(r *history.Reasons) string {
	clusters := make([]string, len(r.Clusters))
	for i, c := range r.Clusters {
		reasons := make([]string, len(c.Reasons))
		for j, reason := range c.Reasons {
			if reasons[j] = reason.Text; reason.Nodes > 0 {
				reasons[j] = fmt.Sprintf("%d %s", reason.Nodes, reason.Text)
			}
		}
		clusters[i] = cmp.Or(c.Cluster, noCluster) + ": " + strings.Join(reasons, ", ")
	}
	text := names.First(clusters, maxTold, "; ")
	if r.OtherClusters > 0 {
		text += fmt.Sprintf("; %s not told apart", names.Are(r.OtherClusters, "cluster"))
	}
	return text
}

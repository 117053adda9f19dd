// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

// table is one table of a report.
type table struct {
	title   string
	headers []string
	rows    [][]string
}

// tables returns the results as tables. Ratios come first.
func (r *Results) tables() []table {
	var tables []table
	if t := r.targetTable(); len(t.rows) > 0 {
		tables = append(tables, t)
	}
	for i := range r.Decisions {
		tables = append(tables, r.Decisions[i].table())
	}
	tables = append(tables, r.Newest.tables()...)
	tables = append(tables, r.Processes.tables()...)
	tables = append(tables, r.Scale.tables()...)
	if len(r.Throughputs) > 0 {
		tables = append(tables, throughputTable("scheduler_perf: pods bound a second, with an API server in the same process", r.Throughputs))
	}
	if len(r.Points) > 0 {
		tables = append(tables, pointTable(r.Points))
	}
	return tables
}

func (c *Comparison) table() table {
	t := table{
		title: c.Name + ": " + c.Title,
		headers: []string{
			"peer", "time", "range", "CPU", "placing", "decision", "CPU time", "allocations", "KiB", "placing time", "violations", "unplaced",
		},
	}
	base := &c.Peers[0]
	for i := range c.Peers {
		p := &c.Peers[i]
		ratio := ratios(p.Nanoseconds, base.Nanoseconds)
		placing := p.placing(base)
		time := number(ratio.Median) + " x"
		if len(p.Turns) > 0 {
			turns := paired(p.Turns, base.Turns)
			time = fmt.Sprintf("%.3f ± %.3f x", turns.median, turns.deviation)
		}
		t.rows = append(t.rows, []string{
			p.Title, time, number(ratio.Least) + " to " + number(ratio.Most),
			number(ratios(p.CPUNanoseconds, base.CPUNanoseconds).Median) + " x", placing.ratio,
			milliseconds(SpreadOf(p.Nanoseconds).Median), milliseconds(SpreadOf(p.CPUNanoseconds).Median),
			fmt.Sprintf("%.0f", SpreadOf(p.Allocations).Median), fmt.Sprintf("%.0f", SpreadOf(p.Bytes).Median/1024),
			placing.time, placing.violations, placing.unplaced,
		})
	}
	return t
}

// placing is what the table tells about pods that are placed.
type placing struct {
	ratio, time, violations, unplaced string
}

func (p *Peer) placing(base *Peer) placing {
	if p.Placed+p.Unplaced == 0 {
		return placing{ratio: "takes too long", time: "-", violations: "-", unplaced: "-"}
	}
	told := placing{
		ratio:      number(ratios(p.PlacingNanoseconds, base.PlacingNanoseconds).Median) + " x",
		time:       milliseconds(SpreadOf(p.PlacingNanoseconds).Median),
		violations: "does not share out", unplaced: fmt.Sprintf("%d of %d", p.Unplaced, p.Placed+p.Unplaced),
	}
	if p.Limited {
		told.violations = fmt.Sprintf("%d of %d", p.Violations, p.Placed)
	}
	return told
}

// throughputTable compares with the first peer of each workload.
func throughputTable(title string, throughputs []Throughput) table {
	t := table{title: title, headers: []string{"workload", "peer", "pods/s", "ratio", "range", "runs"}}
	base := map[string]Spread{}
	for i := range throughputs {
		x := &throughputs[i]
		pods := SpreadOf(x.Pods)
		if _, known := base[x.Workload]; !known {
			base[x.Workload] = pods
		}
		ratio := "-"
		if base[x.Workload].Median > 0 {
			ratio = number(pods.Median/base[x.Workload].Median) + " x"
		}
		t.rows = append(t.rows, []string{
			x.Workload, x.Peer, fmt.Sprintf("%.0f", pods.Median), ratio, fmt.Sprintf("%.0f to %.0f", pods.Least, pods.Most),
			strconv.Itoa(len(x.Pods)),
		})
	}
	return t
}

func pointTable(points []Point) table {
	t := table{title: "Single extension points, hints and the count of pods", headers: []string{"benchmark", "ns", "bytes", "allocations"}}
	for _, p := range points {
		t.rows = append(t.rows, []string{
			p.Name, fmt.Sprintf("%.0f", p.Nanoseconds), fmt.Sprintf("%.0f", p.Bytes), fmt.Sprintf("%.0f", p.Allocations),
		})
	}
	return t
}

// Print writes the results as tables for a terminal.
func Print(out io.Writer, results *Results) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, t := range results.tables() {
		fmt.Fprintf(w, "\n%s\n  %s\n", t.title, strings.Join(t.headers, "\t"))
		for _, row := range t.rows {
			fmt.Fprintf(w, "  %s\n", strings.Join(row, "\t"))
		}
	}
	return w.Flush()
}

// number writes a ratio with three digits.
func number(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	default:
		return fmt.Sprintf("%.2f", x)
	}
}

func milliseconds(nanoseconds float64) string {
	return fmt.Sprintf("%.3f ms", nanoseconds/1e6)
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// target is what a figure, or several, should come to.
type target struct {
	what, goal string
	figures    func(r *Results) []figure
}

// figure is what was measured, and how far it may go. Its value is NaN if it was not measured.
type figure struct {
	label string
	value float64
	unit  string
	// least says that the bound is the least value rather than the most.
	least bool
	bound float64
	// deviation is how far off the value may be, 0 if that is not known.
	deviation float64
}

func atMost(bound, value float64, unit, label string) figure {
	return figure{label: label, value: value, unit: unit, bound: bound}
}

// atLeast is for ratios only.
func atLeast(bound, value float64, label string) figure {
	return figure{label: label, value: value, unit: " x", bound: bound, least: true}
}

func (f *figure) met() bool { return f.keeps(f.value) }

// keeps reports whether a value keeps to the bound.
func (f *figure) keeps(value float64) bool {
	if f.least {
		return value >= f.bound
	}
	return value <= f.bound
}

// String writes a count as a whole number, and all else as a ratio.
func (f *figure) String() string {
	value := number(f.value)
	switch {
	case f.unit == "":
		value = fmt.Sprintf("%.0f", f.value)
	case f.deviation > 0:
		return fmt.Sprintf("%s %.3f ± %.3f%s", f.label, f.value, f.deviation, f.unit)
	}
	// What misses its bound by less than is shown would read as if it kept to it.
	if shown, err := strconv.ParseFloat(value, 64); err == nil && f.keeps(shown) != f.met() {
		value = strconv.FormatFloat(f.value, 'g', 5, 64)
	}
	return strings.TrimSpace(f.label + " " + value + f.unit)
}

// targets are the goals of the project in the order of the table.
var targets = []target{
	{"pods above the share of a site, or beyond what a resource has", "0", (*Results).violationFigures},
	{"decision on a pod that uses no feature, against the default scheduler", "at most 1.01 x", (*Results).bystanderFigures},
	{
		"a backlog through real processes, pods a second against the default scheduler's plain pods",
		"plain pods 0.98 x, of a policy or a resource 1.1 x", (*Results).drainFigures,
	},
	{"the same, CPU of the scheduler for a pod", "at most 1 x, of a policy 0.6 x", (*Results).drainCPUFigures},
	{"the same, memory of the scheduler", "at most 1.15 x", (*Results).drainMemoryFigures},
	{"the same, waiting for the busiest lock of Berth, of the time that it takes", "at most 1 %", (*Results).lockFigures},
	{"PreFilter and PreScore of a plugin for such a pod", "at most 60 ns, 0 allocations", (*Results).skipFigures},
	{
		"PreFilter of a pod of a policy with ten clusters, few nodes",
		"at most 2 µs, 4 allocations", (*Results).policyFigures,
	},
	{"Filter that admits a node", "at most 40 ns, 0 allocations", (*Results).filterFigures},
	{"recount with nothing changed, 5000 nodes", "at most 20 µs", (*Results).recountFigures},
	{
		"decision for a tenth of 5000 nodes, against others",
		"default scheduler with plain pods 2 x, with node affinity 9 x", (*Results).tenthFigures,
	},
	{"the same against PodTopologySpread", "3 x, crowded 8 x", (*Results).spreadFigures},
	{"the same against an HTTP extender", "the best one 5 x, the literal one 50 x", (*Results).extenderFigures},
	{"against consumable capacity of DRA", "decision 10 x, at most half the writes", (*Results).draFigures},
	{"scheduler_perf, pods a second against the default scheduler", "0.98 x, with the shipped profile 1.20 x", (*Results).throughputFigures},
	{"decision over ten sites that hold all 100 nodes, against node affinity", "at most 1.2 x", (*Results).smallFigures},
	{"decision with 50000 nodes against one with 5000, a policy over 500 of them", "at most 1.5 x", (*Results).largeFigures},
	{"writes for each bound pod, against the default scheduler", "1 x", (*Results).writeFigures},
	{"from a free place to the next bind, p99 beyond the default scheduler", "at most 50 ms", (*Results).freedFigures},
	{"controllers: 100 policies in step after a start, writes while idle", "at most 2000 ms, 0", (*Results).controllerFigures},
	{
		"a large cluster: start of the scheduler to its first bind, against the default scheduler", "at most 1.1 x",
		(*Results).restartFigures,
	},
	{"the same: CPU of the scheduler for a pod of a policy against plain pods, its memory", "at most 0.6 x, 1.15 x", (*Results).largeDrainFigures},
	{"the same: CPU of the controllers until they are in step after a start, and for a pod that changes", "at most 60 s, 2 ms", (*Results).largeControllerFigures},
	{"the same: controllers with nothing to do", "0 writes, at most 0.5 % of a core", (*Results).largeIdleFigures},
	{
		"decision with 100000 nodes and a million pods against one with 5000 nodes, a policy over 500 of them", "at most 1.5 x",
		(*Results).hugeFigures,
	},
	{
		"a backlog of a policy while something goes on beside: how much slower, against the default scheduler's plain pods; decisions for a pod",
		"at least 0.9 x, at most 1.05", (*Results).disturbedFigures,
	},
	{"several schedulers: CPU for a pod with 8 of them against one alone, writes refused", "at most 1.1 x, 0", (*Results).sharingFigures},
}

// targetTable says what of the goals was reached; it has no rows for what was not measured.
func (r *Results) targetTable() table {
	t := table{
		title:   "Goals: what was to be reached, and what this run has measured; **bold** is what missed its goal",
		headers: []string{"what", "goal", "measured", "reached"},
	}
	for _, target := range targets {
		figures := slices.DeleteFunc(target.figures(r), func(f figure) bool { return math.IsNaN(f.value) })
		if len(figures) == 0 {
			continue
		}
		texts := make([]string, 0, len(figures))
		missed := 0
		for i := range figures {
			f := &figures[i]
			text := f.String()
			if !f.met() {
				text = "**" + text + "**"
				missed++
			}
			texts = append(texts, text)
		}
		reached := "yes"
		switch missed {
		case 0:
		case len(figures):
			reached = "**no**"
		default:
			reached = "**in part**"
		}
		t.rows = append(t.rows, []string{target.what, target.goal, strings.Join(texts, ", "), reached})
	}
	return t
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Processes is what schedulers and controllers cost as processes of their own, beside a real API
// server.
type Processes struct {
	// Nodes is how many nodes there are while a backlog is drained.
	Nodes       int          `json:"nodes,omitempty"`
	Drains      []Drain      `json:"drains,omitempty"`
	Freed       []Freed      `json:"freed,omitempty"`
	Controllers *Controllers `json:"controllers,omitempty"`
}

// Drain is how a scheduler places a backlog of pods. Its numbers are one for each round; the n-th
// ones of all peers were measured shortly after each other.
type Drain struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	// Pods is how many the backlog has.
	Pods          int       `json:"pods"`
	PodsPerSecond []float64 `json:"podsPerSecond"`
	// CPUMilliseconds is the work of all processors for the process of the scheduler, for each pod.
	CPUMilliseconds []float64 `json:"cpuMilliseconds"`
	// ServerMilliseconds is that for etcd and the API server. Busy is the part of the time of all
	// processors of the machine in which they worked for anybody; what is left is waiting.
	ServerMilliseconds []float64 `json:"serverMilliseconds"`
	Busy               []float64 `json:"busy"`
	// FirstMilliseconds is how long it took from the start of the process to its first bind, and
	// FirstCPUMilliseconds how much work.
	FirstMilliseconds    []float64 `json:"firstMilliseconds"`
	FirstCPUMilliseconds []float64 `json:"firstCPUMilliseconds"`
	// MemoryBytes is the most that the process has held, with all its caches.
	MemoryBytes []float64 `json:"memoryBytes"`
	// Attempts is how often the scheduler has decided on each pod since the measuring began;
	// nothing if that was not counted.
	Attempts []float64 `json:"attempts,omitempty"`
	// LockParts is for how much of the time in which the backlog was placed goroutines have waited for
	// the lock of Berth that they have waited for longest, all of them together; Lock is who has asked
	// for it in the last round.
	LockParts []float64 `json:"lockParts,omitempty"`
	Lock      string    `json:"lock,omitempty"`
	// Writes is how many writes the API server has carried out for each pod, its creation included;
	// Requests how many requests of the scheduler it has answered.
	Writes   []float64 `json:"writes"`
	Requests []float64 `json:"requests"`
	// Kinds are the writes for each pod by verb and resource.
	Kinds map[string]float64 `json:"kinds"`
	// Limited and Violations are those of a Peer, Violations those of all rounds.
	Limited    bool `json:"limited"`
	Violations int  `json:"violations"`
}

// Freed is how long it takes from the deletion of a pod until the next one is bound, while many
// wait for its place.
type Freed struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Waiting int    `json:"waiting"`
	// Milliseconds are the times of all deletions, by round.
	Milliseconds [][]float64 `json:"milliseconds"`
	// Requests is how many requests of the scheduler the API server has answered for each place, in
	// each round.
	Requests []float64 `json:"requests"`
}

// Controllers is what berth-controller-manager costs.
type Controllers struct {
	Policies int `json:"policies"`
	Pods     int `json:"pods"`
	// SyncMilliseconds is the time from each start of the process until the status of the last
	// policy is right, none of which was there before. SyncCPUMilliseconds is the work of all
	// processors for that.
	SyncMilliseconds    []float64 `json:"syncMilliseconds"`
	SyncCPUMilliseconds []float64 `json:"syncCPUMilliseconds"`
	SyncWrites          []float64 `json:"syncWrites"`
	MemoryBytes         []float64 `json:"memoryBytes"`
	// IdleSeconds is how long the process had nothing to do afterwards, and what it did in that
	// time. The renewals of its lease are no IdleWrites.
	IdleSeconds         float64 `json:"idleSeconds"`
	IdleWrites          int     `json:"idleWrites"`
	IdleCPUMilliseconds float64 `json:"idleCPUMilliseconds"`
}

func (p *Processes) tables() []table {
	if p == nil {
		return nil
	}
	var tables []table
	if len(p.Drains) > 0 {
		tables = append(tables, p.drainTable(), p.writesTable())
	}
	if len(p.Freed) > 0 {
		tables = append(tables, freedTable(p.Freed))
	}
	if p.Controllers != nil {
		tables = append(tables, p.Controllers.table())
	}
	return tables
}

func (p *Processes) drainTable() table {
	t := table{
		title: fmt.Sprintf("processes-drain: a backlog of pods, real etcd and API server, %d nodes", p.Nodes),
		headers: []string{
			"scheduler", "CPU", "range", "pods/s", "range", "CPU a pod", "of etcd and API server", "processors busy", "pods a second", "range",
			"memory", "violations", "pods", "rounds",
		},
	}
	base := &p.Drains[0]
	for i := range p.Drains {
		d := &p.Drains[i]
		cpu, speed := ratios(d.CPUMilliseconds, base.CPUMilliseconds), SpreadOf(d.PodsPerSecond)
		ratio := ratios(d.PodsPerSecond, base.PodsPerSecond)
		violations := "does not share out"
		if d.Limited {
			violations = fmt.Sprintf("%d of %d", d.Violations, d.Pods*len(d.PodsPerSecond))
		}
		t.rows = append(t.rows, []string{
			d.Title, number(cpu.Median) + " x", number(cpu.Least) + " to " + number(cpu.Most),
			number(ratio.Median) + " x", number(ratio.Least) + " to " + number(ratio.Most),
			fmt.Sprintf("%.2f ms", SpreadOf(d.CPUMilliseconds).Median), fmt.Sprintf("%.2f ms", SpreadOf(d.ServerMilliseconds).Median),
			fmt.Sprintf("%.0f %%", 100*SpreadOf(d.Busy).Median),
			fmt.Sprintf("%.0f", speed.Median), fmt.Sprintf("%.0f to %.0f", speed.Least, speed.Most),
			mebibytes(d.MemoryBytes), violations, strconv.Itoa(d.Pods), strconv.Itoa(len(d.PodsPerSecond)),
		})
	}
	return t
}

func (p *Processes) writesTable() table {
	t := table{
		title:   "processes-writes: what the API server does for each bound pod",
		headers: []string{"scheduler", "writes", "writes a pod", "requests of the scheduler a pod", "what is written"},
	}
	base := &p.Drains[0]
	for i := range p.Drains {
		d := &p.Drains[i]
		kinds := make([]string, 0, len(d.Kinds))
		for _, kind := range slices.Sorted(maps.Keys(d.Kinds)) {
			kinds = append(kinds, fmt.Sprintf("%s %.2f", kind, d.Kinds[kind]))
		}
		t.rows = append(t.rows, []string{
			d.Title, number(ratios(d.Writes, base.Writes).Median) + " x", fmt.Sprintf("%.2f", SpreadOf(d.Writes).Median),
			fmt.Sprintf("%.2f", SpreadOf(d.Requests).Median), strings.Join(kinds, ", "),
		})
	}
	return t
}

func freedTable(all []Freed) table {
	t := table{
		title:   fmt.Sprintf("processes-freed: from a place that becomes free to the next bind, %d pods waiting", all[0].Waiting),
		headers: []string{"scheduler", "median", "p99", "p99 beyond the first", "p50", "p99", "range of p99", "samples", "requests a place"},
	}
	base := pooled(all[0].Milliseconds)
	for i := range all {
		f := &all[i]
		samples := pooled(f.Milliseconds)
		rounds := make([]float64, 0, len(f.Milliseconds))
		for _, round := range f.Milliseconds {
			rounds = append(rounds, Quantile(round, 0.99))
		}
		p50, p99, spread := Quantile(samples, 0.5), Quantile(samples, 0.99), SpreadOf(rounds)
		t.rows = append(t.rows, []string{
			f.Title, number(p50/Quantile(base, 0.5)) + " x", number(p99/Quantile(base, 0.99)) + " x",
			fmt.Sprintf("%+.1f ms", p99-Quantile(base, 0.99)), fmt.Sprintf("%.1f ms", p50), fmt.Sprintf("%.1f ms", p99),
			fmt.Sprintf("%.1f to %.1f ms", spread.Least, spread.Most), strconv.Itoa(len(samples)),
			fmt.Sprintf("%.1f", SpreadOf(f.Requests).Median),
		})
	}
	return t
}

func pooled(rounds [][]float64) []float64 { return slices.Concat(rounds...) }

func (c *Controllers) table() table {
	measure := func(samples []float64, format string) []string {
		s := SpreadOf(samples)
		return []string{fmt.Sprintf(format, s.Median), fmt.Sprintf(format+" to "+format, s.Least, s.Most)}
	}
	idle := fmt.Sprintf("in %.0f s with nothing to do: ", c.IdleSeconds)
	return table{
		title:   fmt.Sprintf("processes-controllers: berth-controller-manager, %d policies, %d pods", c.Policies, c.Pods),
		headers: []string{"what", "median", "range"},
		rows: [][]string{
			append([]string{"from its start to the last policy whose status is right"}, measure(c.SyncMilliseconds, "%.0f ms")...),
			append([]string{"CPU for that"}, measure(c.SyncCPUMilliseconds, "%.0f ms")...),
			append([]string{"writes for that"}, measure(c.SyncWrites, "%.0f")...),
			append([]string{"memory at most"}, mebibytes(c.MemoryBytes), ""),
			{idle + "writes", strconv.Itoa(c.IdleWrites), ""},
			{idle + "CPU", fmt.Sprintf("%.0f ms", c.IdleCPUMilliseconds), ""},
		},
	}
}

func mebibytes(samples []float64) string {
	return fmt.Sprintf("%.0f MiB", SpreadOf(samples).Median/(1<<20))
}

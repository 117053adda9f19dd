// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package report keeps the results of benchmarks, and writes them as JSON, as a table for a
// terminal and as documentation.
package report

import (
	"cmp"
	"math"
	"slices"
)

// Results are all that one run has measured.
type Results struct {
	Environment Environment  `json:"environment"`
	Decisions   []Comparison `json:"decisions,omitempty"`
	Points      []Point      `json:"points,omitempty"`
	Throughputs []Throughput `json:"throughputs,omitempty"`
	Processes   *Processes   `json:"processes,omitempty"`
	// Newest is what was measured with the newest Kubernetes, nil if nothing was.
	Newest *Newest `json:"newest,omitempty"`
	// Scale is what another run has measured, nil if there was none. It has a file of its own.
	Scale *Scale `json:"-"`
}

// Newest are decisions that were measured with another minor of Kubernetes than all else.
type Newest struct {
	// Kubernetes is the minor, such as 1.37.
	Kubernetes string       `json:"kubernetes"`
	Decisions  []Comparison `json:"decisions"`
}

// tables tells which minor each decision was measured with.
func (n *Newest) tables() []table {
	if n == nil {
		return nil
	}
	tables := make([]table, 0, len(n.Decisions))
	for i := range n.Decisions {
		c := n.Decisions[i]
		c.Name = "kubernetes-" + n.Kubernetes + "-" + c.Name
		c.Title += ", with Kubernetes " + n.Kubernetes
		tables = append(tables, c.table())
	}
	return tables
}

// Point is the benchmark of one extension point, hint or event path.
type Point struct {
	Name        string  `json:"name"`
	Nanoseconds float64 `json:"nanoseconds"`
	Bytes       float64 `json:"bytes"`
	Allocations float64 `json:"allocations"`
}

// Throughput is how many pods a second a scheduler binds in scheduler_perf, one number for each
// run.
type Throughput struct {
	Workload string    `json:"workload"`
	Peer     string    `json:"peer"`
	Pods     []float64 `json:"podsPerSecond"`
}

// Comparison is what several ways to do one thing cost.
type Comparison struct {
	// Name identifies the comparison.
	Name string `json:"name"`
	// Title tells a reader what was compared.
	Title string `json:"title"`
	// Peers are the ways; the others are compared with the first one.
	Peers []Peer `json:"peers"`
}

// Peer is one way to do something, and what it cost. The n-th numbers of all peers were measured
// shortly after each other.
type Peer struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	// Nanoseconds, CPUNanoseconds, Allocations and Bytes are the costs of one decision while
	// nothing changes, one number for each round. CPUNanoseconds is the work of all processors,
	// garbage collection included.
	Nanoseconds    []float64 `json:"nanoseconds"`
	CPUNanoseconds []float64 `json:"cpuNanoseconds"`
	Allocations    []float64 `json:"allocations"`
	Bytes          []float64 `json:"bytes"`
	// Turns are the times of all turns of peers that are alike, which have many in each round. The
	// n-th ones of all peers were measured at once after each other.
	Turns []float64 `json:"turns,omitempty"`
	// PlacingNanoseconds are the median costs of one decision of a row in which each pod is placed
	// before the next.
	PlacingNanoseconds []float64 `json:"placingNanoseconds"`
	// Limited reports whether the peer limits how many pods a site gets, so that there can be
	// violations.
	Limited bool `json:"limited"`
	// Violations counts the pods above the share of their site, Placed all that found a node, and
	// Unplaced those that did not.
	Violations int `json:"violations"`
	Placed     int `json:"placed"`
	Unplaced   int `json:"unplaced"`
}

// Spread is the median of some numbers, and the range they lie in.
type Spread struct {
	Median, Least, Most float64
}

// SpreadOf returns the spread of the samples; all zero if there are none.
func SpreadOf(samples []float64) Spread {
	if len(samples) == 0 {
		return Spread{}
	}
	sorted := slices.Sorted(slices.Values(samples))
	middle := len(sorted) / 2
	median := sorted[middle]
	if len(sorted)%2 == 0 {
		median = (sorted[middle-1] + sorted[middle]) / 2
	}
	return Spread{Median: median, Least: sorted[0], Most: sorted[len(sorted)-1]}
}

// Quantile returns the least of the samples that a part q of all, from 0 to 1, does not exceed; 0
// if there are none.
func Quantile(samples []float64, q float64) float64 {
	if len(samples) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(samples))
	return sorted[min(len(sorted)-1, max(0, int(math.Ceil(q*float64(len(sorted))))-1))]
}

// ratio is how many times as much one is as another, and how far off that may be: the standard
// error of the median.
type ratio struct {
	median, deviation float64
}

// paired compares samples that were taken in pairs.
func paired(samples, base []float64) ratio {
	quotients := make([]float64, 0, len(samples))
	for i := range min(len(samples), len(base)) {
		if cmp.Compare(base[i], 0) > 0 {
			quotients = append(quotients, samples[i]/base[i])
		}
	}
	// Of a normal distribution the middle half is 1.349 standard deviations wide, and the median of a
	// sample varies 1.253 times as much as the mean. The few turns that met with something else do not
	// count for more than others.
	width := Quantile(quotients, 0.75) - Quantile(quotients, 0.25)
	return ratio{
		median: SpreadOf(quotients).Median, deviation: 1.253 * width / 1.349 / math.Sqrt(float64(max(1, len(quotients)))),
	}
}

// ratios returns how many times as much as the base the samples are, round by round.
func ratios(samples, base []float64) Spread {
	ratios := make([]float64, 0, len(samples))
	for i := range min(len(samples), len(base)) {
		if cmp.Compare(base[i], 0) > 0 {
			ratios = append(ratios, samples[i]/base[i])
		}
	}
	return SpreadOf(ratios)
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"math"
	"regexp"

	"berth.dev/berth/test/perf/decision"
	"berth.dev/berth/test/perf/report"
)

// allocations are those of a decision by scenario and peer. Goroutines that filter at the same time
// do not always stop at the same node.
var allocations = &baseline{file: "test/perf/allocations.json", flag: "allocations", unit: "allocations", tolerance: 0.03}

// countAllocations returns the allocations of decisions.
func countAllocations(ctx context.Context, out io.Writer, configurations *decision.Configurations) (map[string]int, error) {
	scenarios := matching(regexp.MustCompile(`^(all-sites|bystanders|resources|tenth)-100?0?$`))
	comparisons, err := decision.Run(ctx, out, scenarios, configurations,
		decision.Options{Rounds: 5, Turn: 20, Peers: regexp.MustCompile(`^(berth.*|stock)$`)})
	if err != nil {
		return nil, err
	}
	measured := map[string]int{}
	for i := range comparisons {
		for j := range comparisons[i].Peers {
			p := &comparisons[i].Peers[j]
			measured[comparisons[i].Name+" "+p.Name] = int(math.Round(report.SpreadOf(p.Allocations).Median))
		}
	}
	return measured, nil
}

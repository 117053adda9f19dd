// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"

	"berth.dev/berth/test/perf/decision"
	"berth.dev/berth/test/perf/report"
)

const (
	// baselineFile holds the allocations of a decision by scenario and peer.
	baselineFile = "test/perf/allocations.json"

	// tolerance is how far allocations may be off the baseline: goroutines that filter at the same time do not always stop at the
	// same node.
	tolerance = 0.03
)

// checkAllocations compares the allocations of decisions, which unlike times are the same on every machine, with the baseline, or
// writes a new one.
func checkAllocations(ctx context.Context, out io.Writer, configurations *decision.Configurations, update bool) error {
	scenarios := matching(regexp.MustCompile(`^(all-sites|bystanders|resources|tenth)-100?0?$`))
	comparisons, err := decision.Run(ctx, out, scenarios, configurations,
		decision.Options{Rounds: 5, Turn: 20, Peers: regexp.MustCompile(`^(berth.*|stock)$`)})
	if err != nil {
		return err
	}
	measured := map[string]int{}
	for i := range comparisons {
		for j := range comparisons[i].Peers {
			p := &comparisons[i].Peers[j]
			measured[comparisons[i].Name+" "+p.Name] = int(math.Round(report.SpreadOf(p.Allocations).Median))
		}
	}
	if update {
		return writeBaseline(measured)
	}
	content, err := os.ReadFile(baselineFile)
	if err != nil {
		return fmt.Errorf("reading the allocations to compare with: %w", err)
	}
	baseline := map[string]int{}
	if err := json.Unmarshal(content, &baseline); err != nil {
		return fmt.Errorf("decoding %s: %w", baselineFile, err)
	}
	return compareAllocations(measured, baseline)
}

func writeBaseline(measured map[string]int) error {
	content, err := json.MarshalIndent(measured, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the allocations: %w", err)
	}
	if err := os.WriteFile(baselineFile, append(content, '\n'), 0o644); err != nil { //nolint:gosec // a file of the repository
		return fmt.Errorf("writing the allocations to compare with: %w", err)
	}
	return nil
}

// compareAllocations returns an error that names every decision that allocates more or less than the baseline says.
func compareAllocations(measured, baseline map[string]int) error {
	var differences []error
	for _, name := range slices.Sorted(maps.Keys(measured)) {
		want, known := baseline[name]
		switch off := float64(measured[name])/float64(max(want, 1)) - 1; {
		case !known:
			differences = append(differences, fmt.Errorf("%s: %d allocations, and nothing to compare with", name, measured[name]))
		case off > tolerance:
			differences = append(differences, fmt.Errorf("%s: %d allocations, %d until now: find out why", name, measured[name], want))
		case off < -tolerance:
			differences = append(differences, fmt.Errorf("%s: %d allocations, %d until now", name, measured[name], want))
		}
	}
	if len(differences) == 0 {
		return nil
	}
	return errors.Join(append(differences, errors.New("if that is as it should be, run `go run ./test/perf -allocations -update`"))...)
}

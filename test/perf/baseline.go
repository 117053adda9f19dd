// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
)

// baseline is a file with figures that, unlike times, are the same on every machine.
type baseline struct {
	file, flag, unit string
	// tolerance is how far a figure may be off, as a part of it.
	tolerance float64
}

// check compares what was measured with the file, or writes it anew.
func (b *baseline) check(measured map[string]int, update bool) error {
	if update {
		return b.write(measured)
	}
	content, err := os.ReadFile(b.file)
	if err != nil {
		return fmt.Errorf("reading the %s to compare with: %w", b.unit, err)
	}
	known := map[string]int{}
	if err := json.Unmarshal(content, &known); err != nil {
		return fmt.Errorf("decoding %s: %w", b.file, err)
	}
	return b.compare(measured, known)
}

func (b *baseline) write(measured map[string]int) error {
	content, err := json.MarshalIndent(measured, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the %s: %w", b.unit, err)
	}
	if err := os.WriteFile(b.file, append(content, '\n'), 0o644); err != nil { //nolint:gosec // a file of the repository
		return fmt.Errorf("writing the %s to compare with: %w", b.unit, err)
	}
	return nil
}

// compare returns an error that names every figure that is off.
func (b *baseline) compare(measured, known map[string]int) error {
	var differences []error
	for _, name := range slices.Sorted(maps.Keys(measured)) {
		want, found := known[name]
		switch off := float64(measured[name])/float64(max(want, 1)) - 1; {
		case !found:
			differences = append(differences, fmt.Errorf("%s: %d %s, and nothing to compare with", name, measured[name], b.unit))
		case off > b.tolerance:
			differences = append(differences, fmt.Errorf("%s: %d %s, %d until now: find out why", name, measured[name], b.unit, want))
		case off < -b.tolerance:
			differences = append(differences, fmt.Errorf("%s: %d %s, %d until now", name, measured[name], b.unit, want))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if _, found := measured[name]; !found {
			differences = append(differences, fmt.Errorf("%s: not measured any more, %d %s until now", name, known[name], b.unit))
		}
	}
	if len(differences) == 0 {
		return nil
	}
	hint := fmt.Errorf("if that is as it should be, run `go run ./test/perf -%s -update`", b.flag)
	return errors.Join(append(differences, hint)...)
}

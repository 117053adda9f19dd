// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Command mutate plants faults in packages, one at a time, and reports those that no test catches:
// a comparison that is off by one, a condition turned round, a statement left out. It writes
// nothing into the tree: Go is shown the changed file in the place of the right one.
//
// Usage:
//
//	go run ./hack/mutate [-most 60] [-seed 1] [-timeout 2m] [-tests PATTERN,...] PACKAGE...
//
// Of each package it tries so many faults, chosen by the seed; 0 tries all. The tests are those of
// the package, and of the patterns. It takes one compilation for each fault, so it is not part of
// make test. Faults that change nothing that anybody could notice are listed in equivalent.txt,
// with the reason.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"time"
)

//go:embed equivalent.txt
var equivalent string

func main() {
	most := flag.Int("most", 60, "how many faults of each package are tried, 0 for all")
	seed := flag.Uint64("seed", 1, "chooses the faults")
	timeout := flag.Duration("timeout", 2*time.Minute, "how long the tests may take; a fault that makes them take longer is caught")
	tests := flag.String("tests", "", "packages whose tests are run, too, separated by commas")
	flag.Parse()
	t := &trial{timeout: *timeout, tests: strings.FieldsFunc(*tests, func(r rune) bool { return r == ',' })}
	os.Exit(mutate(t, flag.Args(), *most, *seed))
}

// mutate tries faults of packages, and returns the exit code.
func mutate(t *trial, packages []string, most int, seed uint64) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	survivors, err := t.run(ctx, packages, most, seed)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		return 2
	}
	if survivors > 0 {
		return 1
	}
	return 0
}

// run tries faults of packages, and returns how many no test has caught.
func (t *trial) run(ctx context.Context, packages []string, most int, seed uint64) (survivors int, err error) {
	known := reasons(equivalent)
	for _, name := range packages {
		faults, err := faultsOf(ctx, name)
		if err != nil {
			return survivors, err
		}
		faults = sample(faults, most, seed)
		caught, same := 0, 0
		for _, f := range faults {
			if known[f.String()] != "" {
				same++
				continue
			}
			verdict, err := t.try(ctx, name, f)
			switch {
			case err != nil:
				return survivors, err
			case verdict == detected:
				caught++
			case verdict == survived:
				survivors++
				fmt.Printf("%s:%d: not caught: %s\n", f.file, f.line, f)
			}
		}
		fmt.Printf("%s: %d faults caught, %d make no difference, %d not caught in all so far\n", name, caught, same, survivors)
	}
	return survivors, nil
}

// reasons reads the faults that make no difference: a fault in a line, and why below it, indented.
func reasons(text string) map[string]string {
	known, last := map[string]string{}, ""
	for line := range strings.Lines(text) {
		switch trimmed := strings.TrimSpace(line); {
		case trimmed == "" || strings.HasPrefix(trimmed, "#"):
		case strings.HasPrefix(line, " "):
			known[last] = strings.TrimSpace(known[last] + " " + trimmed)
		default:
			last = trimmed
		}
	}
	return known
}

// sample returns some of the faults.
func sample(faults []fault, most int, seed uint64) []fault {
	if most == 0 || most >= len(faults) {
		return faults
	}
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(faults), func(i, j int) { //nolint:gosec // nothing secret is chosen
		faults[i], faults[j] = faults[j], faults[i]
	})
	return faults[:most]
}

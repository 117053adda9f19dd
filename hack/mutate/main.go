// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Command mutate plants faults in packages, one at a time, and reports those that no test catches:
// a comparison that is off by one, a condition turned round, a statement left out. It writes
// nothing into the tree: Go is shown changed files in the place of the right ones.
//
// Usage:
//
//	go run ./hack/mutate [-most 60] [-seed 1] [-timeout 2m] [-tests PATTERN,...] [-v] PACKAGE...
//
// Of each package it tries so many faults, chosen by the seed; 0 tries all. The tests are those of
// the package, and for what these do not catch those of the packages named. They are compiled once,
// with all faults in them, and with one at a time those are run that come to it, the quickest
// first. A fault for which that cannot be done is compiled by itself, and so is one that nothing
// has caught if some tests, of allocations for instance, fail with so many in them.
//
// Faults that change nothing that anybody could notice are listed in equivalent.txt, with the
// reason. The exit code is 1 if any other is not caught.
package main

import (
	"cmp"
	"context"
	_ "embed"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
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
	verbose := flag.Bool("v", false, "show what each test writes that catches a fault")
	flag.Parse()
	t := &trial{timeout: *timeout, verbose: *verbose, tests: strings.FieldsFunc(*tests, func(r rune) bool { return r == ',' })}
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
	found, err := subjects(ctx, packages)
	if err != nil {
		return 0, err
	}
	if t.tests, err = expand(ctx, t.tests); err != nil {
		return 0, err
	}
	for _, s := range found {
		all := sample(s.faults(), most, seed)
		faults := slices.DeleteFunc(slices.Clone(all), func(f *fault) bool { return known[f.String()] != "" })
		verdicts, err := t.try(ctx, s, faults)
		if err != nil {
			return survivors, err
		}
		count := map[verdict]int{}
		for _, f := range faults {
			count[verdicts[f]]++
			if verdicts[f] == survived {
				fmt.Printf("%s:%d: not caught: %s\n", f.file.name, f.line, f)
			}
		}
		survivors += count[survived]
		fmt.Printf("%s: of %d faults, %d make no difference, %d are caught, %d are not\n", s.path,
			len(all)-count[senseless], len(all)-len(faults), count[detected], count[survived])
	}
	return survivors, nil
}

// reasons reads the faults that make no difference: a fault in a line, and why below it, indented.
// The reason holds for all faults in the lines directly above it.
func reasons(text string) map[string]string {
	known := map[string]string{}
	var last []string
	explained := false
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || strings.HasPrefix(trimmed, "#"):
		case strings.HasPrefix(line, " "):
			for _, fault := range last {
				known[fault] = strings.TrimSpace(known[fault] + " " + trimmed)
			}
			explained = true
		default:
			if explained {
				last, explained = nil, false
			}
			last = append(last, trimmed)
			known[trimmed] = ""
		}
	}
	return known
}

// sample returns some of the faults: as long as a fault is there, it has the same chance.
func sample(faults []*fault, most int, seed uint64) []*fault {
	if most == 0 || most >= len(faults) {
		return faults
	}
	order := map[*fault]uint64{}
	for _, f := range faults {
		hash := fnv.New64a()
		fmt.Fprint(hash, seed, f)
		order[f] = rand.NewPCG(hash.Sum64(), seed).Uint64()
	}
	slices.SortFunc(faults, func(a, b *fault) int { return cmp.Compare(order[a], order[b]) })
	return faults[:most]
}

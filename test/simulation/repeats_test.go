// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulation_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
)

// mostTimes bounds how often a world may be repeated.
const mostTimes = 1000

// times returns how often a world is to be run.
func times() (n int, err error) {
	n, err = strconv.Atoi(*timesFlag)
	if err != nil || n < 2 || n > mostTimes {
		return 0, fmt.Errorf("TIMES=%.40s is no number of runs: it must be a whole number from 2 to %d", *timesFlag, mostTimes)
	}
	return n, nil
}

// simulateAgain runs the world of a seed again and again, and returns the code to exit with:
// exitViolated if fewer than nine of ten runs have the same history.
func simulateAgain() int {
	n, err := times()
	asked, problem := input()
	if err == nil && (*durationFlag != "" || *scenarioFlag != "") {
		err = errors.New("TIMES repeats the world of one seed: it goes with neither DURATION nor SCENARIO")
	}
	if err = errors.Join(err, problem); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitInput
	}
	return repeat(asked.first, n)
}

func repeat(seed uint64, n int) int {
	runs, most := map[string]int{}, 0
	for range n {
		r, err := runWorld(context.Background(), seed, nil)
		if err != nil {
			fmt.Fprintf(os.Stderr, "seed %d: not judged: %v\n", seed, err)
			return exitInput
		}
		fmt.Fprintf(os.Stdout, "seed %d: history %s%s\n", seed, r.Digest, broken(r))
		runs[r.Digest]++
		most = max(most, runs[r.Digest])
	}
	fmt.Fprintf(os.Stdout, "%d of %d runs have the same history\n", most, n)
	if most*10 < n*9 {
		return exitViolated
	}
	return 0
}

func broken(r *result) string {
	if r.Violation == "" {
		return ""
	}
	return ", VIOLATED: " + r.Violation
}

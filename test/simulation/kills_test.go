// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulation_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"berth.dev/berth/test/internal/record"
	"berth.dev/berth/test/simulation/world"
)

// runKilled runs the world of a seed in which nothing goes wrong but that the process that sends a
// write is killed; no process is for an empty name.
func runKilled(ctx context.Context, seed uint64, kill world.Kill) (*result, error) {
	args := []string{"-kills", "-kill=" + kill.Write}
	if kill.After {
		args = append(args, "-after")
	}
	return usual.run(ctx, seed, nil, args...)
}

// reference runs a world in which nothing goes wrong, and returns the writes of it.
func reference(ctx context.Context, seed uint64) ([]world.Write, error) {
	r, err := runKilled(ctx, seed, world.Kill{})
	switch {
	case err != nil:
		return nil, err
	case r.Violation != "":
		return nil, fmt.Errorf("it does not keep its promises although nothing goes wrong: %s\n%s", r.Violation, r.History)
	}
	return r.Writes, nil
}

// sweep kills a process before and after each write of a world, one world for each kill, and
// returns the code to exit with.
func sweep() int {
	asked, err := input()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitInput
	}
	ctx, seed := context.Background(), asked.first
	writes, err := reference(ctx, seed)
	if err != nil {
		fmt.Fprintf(os.Stderr, "seed %d: %v\n", seed, err)
		return exitInput
	}
	sum := &record.Kills{Worlds: 1}
	if err := keepKills(sum); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitInput
	}
	for n, write := range writes {
		for _, after := range []bool{false, true} {
			one := &record.Kills{}
			killed(ctx, seed, write, after, one)
			if err := keepKills(one); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return exitInput
			}
			sum.Add(one)
		}
		if (n+1)%20 == 0 {
			fmt.Fprintf(os.Stdout, "%d of %d writes\n", n+1, len(writes))
		}
	}
	for _, of := range []struct {
		what string
		n    record.Counts
	}{{"kept", sum.Kept}, {"broken", sum.Broken}, {"not sent", sum.NotSent}, {"not judged", sum.NotJudged}} {
		for _, kind := range slices.Sorted(maps.Keys(of.n)) {
			fmt.Fprintf(os.Stdout, "  %-60s %s %d\n", kind, of.what, of.n[kind])
		}
	}
	fmt.Fprintf(os.Stdout, "%d writes, a kill before and after each: %d promises broken\n", len(writes), sum.Broken.Sum())
	if sum.Broken.Sum() > 0 {
		return exitViolated
	}
	return 0
}

// keepKills adds what kills have done to the record, if there is one to be kept.
func keepKills(done *record.Kills) error {
	if *recordFlag == "" {
		return nil
	}
	return record.Update(*recordFlag, func(all *record.Record) { all.Kills.Add(done) })
}

// killed runs one world in which a process is killed at a write, and counts what became of it.
func killed(ctx context.Context, seed uint64, write world.Write, after bool, sum *record.Kills) {
	r, err := runKilled(ctx, seed, world.Kill{Write: write.Name, After: after})
	counts := &sum.Kept
	switch {
	case err != nil:
		counts = &sum.NotJudged
	case r.Violation != "":
		counts = &sum.Broken
		lines := strings.Split(r.History, "\n")
		fmt.Fprintf(os.Stdout, "%s\nseed %d, killed at %s (after it: %t): VIOLATED: %s\n",
			strings.Join(lines[max(0, len(lines)-60):], "\n"), seed, write.Name, after, r.Violation)
	case r.Counts.Disturbances[world.KillAtWrite] == 0:
		counts = &sum.NotSent // another order of things led to other names
	}
	counts.Add(record.Counts{write.Kind: 1})
}

// A process that is killed at a write goes on after it as if nothing had been. The sweep does this
// for all writes.
func TestAKillAtAWrite(t *testing.T) {
	const seed = 3
	writes, err := reference(t.Context(), seed)
	if err != nil {
		t.Skipf("this machine is too slow: %v", err)
	}
	for _, kind := range []string{"create pods/binding", "patch propagationpolicies/status"} {
		at := slices.IndexFunc(writes, func(w world.Write) bool { return strings.HasSuffix(w.Kind, kind) })
		if at < 0 {
			t.Fatalf("no write is of the kind %s; there are %v", kind, writes)
		}
		for _, after := range []bool{false, true} {
			sum := &record.Kills{}
			if killed(t.Context(), seed, writes[at], after, sum); sum.Broken.Sum() > 0 {
				t.Errorf("a kill at %s (after it: %t) broke a promise", writes[at].Name, after)
			}
		}
	}
}

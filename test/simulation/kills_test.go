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

	"berth.dev/berth/test/simulation/world"
)

// runKilled runs the world of a seed in which nothing goes wrong but that the process that sends a
// write is killed; no process is for an empty name.
func runKilled(ctx context.Context, seed uint64, kill world.Kill) (*result, error) {
	args := []string{"-kills", "-kill=" + kill.Write}
	if kill.After {
		args = append(args, "-after")
	}
	return runProcess(ctx, seed, args)
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

// tally is what became of the kills at writes of one kind.
type tally struct{ kept, absent, undecided int }

// sweep kills a process before and after each write of a world, one world for each kill, and
// returns the code to exit with.
func sweep() int {
	seed, _, err := input()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitInput
	}
	ctx := context.Background()
	writes, err := reference(ctx, seed)
	if err != nil {
		fmt.Fprintf(os.Stderr, "seed %d: %v\n", seed, err)
		return exitInput
	}
	tallies, violated := map[string]*tally{}, 0
	for n, write := range writes {
		if tallies[write.Kind] == nil {
			tallies[write.Kind] = &tally{}
		}
		for _, after := range []bool{false, true} {
			if !tallies[write.Kind].kill(ctx, seed, world.Kill{Write: write.Name, After: after}) {
				violated++
			}
		}
		if (n+1)%20 == 0 {
			fmt.Fprintf(os.Stdout, "%d of %d writes\n", n+1, len(writes))
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(tallies)) {
		t := tallies[kind]
		fmt.Fprintf(os.Stdout, "  %-60s kept %d, not sent %d, not judged %d\n", kind, t.kept, t.absent, t.undecided)
	}
	fmt.Fprintf(os.Stdout, "%d writes, a kill before and after each: %d promises broken\n", len(writes), violated)
	if violated > 0 {
		return exitViolated
	}
	return 0
}

// kill runs one world, counts what became of it, and reports whether all promises were kept.
func (t *tally) kill(ctx context.Context, seed uint64, kill world.Kill) bool {
	r, err := runKilled(ctx, seed, kill)
	switch {
	case err != nil:
		t.undecided++
	case r.Violation != "":
		lines := strings.Split(r.History, "\n")
		fmt.Fprintf(os.Stdout, "%s\nseed %d, %+v: VIOLATED: %s\n",
			strings.Join(lines[max(0, len(lines)-60):], "\n"), seed, kill, r.Violation)
		return false
	case r.Counts.Faults[world.KillAtWrite] == 0:
		t.absent++ // another order of things led to other names
	default:
		t.kept++
	}
	return true
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
			if (&tally{}).kill(t.Context(), seed, world.Kill{Write: writes[at].Name, After: after}) {
				continue
			}
			t.Errorf("a kill at %s (after it: %t) broke a promise", writes[at].Name, after)
		}
	}
}

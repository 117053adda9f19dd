// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulation_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"berth.dev/berth/test/internal/record"
)

// terms are how the process of a world is run.
type terms struct {
	// patience is how long it may take. A world that takes longer is not judged: the machine is too
	// slow, or something keeps virtual time from passing.
	patience time.Duration
	// environment is what it needs to know of the machine.
	environment []string
	// progress gets what it says meanwhile, nil for nobody.
	progress io.Writer
}

// usual are the terms of most worlds. With these a program that test/simulation/repeatable has
// built does the same every time. It ends soon, so it collects no garbage unless its world is
// large.
var usual = terms{
	patience:    2 * time.Minute,
	environment: []string{"GOMAXPROCS=1", "GOGC=off", "GOMEMLIMIT=1536MiB", "GODEBUG=randautoseed=0,asyncpreemptoff=1,memprofilerate=0"},
}

// errTooSlow says that a world was not judged.
var errTooSlow = errors.New("the machine is too slow or the world stands still")

// lastWords is how long a process may take to say what it was doing when its time was up.
const lastWords = 10 * time.Second

// standing returns the goroutines that keep virtual time from passing: those of the bubble that
// run, or wait for something that does not count as waiting there, such as a mutex. It is empty if
// each waits as it should, and then the machine is too slow.
func standing(traces string) string {
	var found []string
	for trace := range strings.SplitSeq(traces, "\n\n") {
		head, _, _ := strings.Cut(trace, "\n")
		if strings.HasPrefix(head, "goroutine ") && strings.Contains(head, "synctest bubble") && !strings.Contains(head, "(durable)") {
			found = append(found, trace)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return fmt.Sprintf("; %d goroutines hold it up\n\n%s", len(found), strings.Join(found[:min(len(found), mostTraces)], "\n\n"))
}

// mostTraces bounds how many of them are shown.
const mostTraces = 20

// raceIn returns what the race detector has reported among what a process said, nothing if it has
// not.
func raceIn(said string) string {
	_, report, found := strings.Cut(said, raceMark)
	if !found {
		return ""
	}
	return raceMark + report[:min(len(report), mostSaid)]
}

// raceMark begins what the race detector reports.
const raceMark = "WARNING: DATA RACE"

// mostSaid bounds how many bytes are shown of what the process of a world said.
const mostSaid = 6000

// runWorld runs the world of a seed without some of what is or happens in it. The error is why it
// was not judged.
func runWorld(ctx context.Context, seed uint64, leaveOut []string) (*result, error) {
	if len(leaveOut) == 0 {
		return usual.run(ctx, seed, nil)
	}
	told, err := (&scenario{&seed, leaveOut}).encode()
	if err != nil {
		return nil, err
	}
	return usual.run(ctx, seed, told)
}

// worldArgs returns the arguments of the process of a world. They have the same length whether it
// is to tell its history or not: what a process has in memory when its world begins is part of what
// makes the history.
func worldArgs(seed uint64, trace, scenario bool) []string {
	args := []string{"-test.run=^TestWorld$", "-world", "-seed=" + strconv.FormatUint(seed, 10), "-trace=0"}
	if trace {
		args[len(args)-1] = "-trace=1"
	}
	if scenario {
		args = append(args, "-scenario=/dev/stdin")
	}
	if *fuzzFlag {
		args = append(args, "-fuzz")
	}
	if *orderFlag != "" {
		args = append(args, "-order="+*orderFlag)
	}
	return args
}

// run runs the world of a seed, or of a scenario unless that is nil, in a process of its own.
func (with *terms) run(ctx context.Context, seed uint64, told []byte, more ...string) (*result, error) {
	ctx, cancel := context.WithTimeout(ctx, with.patience)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	trace := *traceFlag && told == nil && len(more) == 0
	child := exec.CommandContext(ctx, self, append(worldArgs(seed, trace, told != nil), more...)...)
	child.Stdin = bytes.NewReader(told)
	child.Env = with.environment
	// Then it says what all its goroutines do, and ends.
	child.Cancel = func() error { return child.Process.Signal(syscall.SIGQUIT) }
	child.WaitDelay = lastWords
	var out, problems bytes.Buffer
	child.Stdout, child.Stderr = &out, &problems
	if trace {
		child.Stderr = io.MultiWriter(&problems, os.Stderr)
	} else if with.progress != nil {
		child.Stderr = io.MultiWriter(&problems, with.progress)
	}
	err = child.Run()
	if race := raceIn(problems.String()); race != "" {
		return &result{Violation: "a data race", History: race}, nil
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("it took longer than %s, %w%s", with.patience, errTooSlow, standing(problems.String()))
	}
	for line := range strings.Lines(out.String()) {
		if text, found := strings.CutPrefix(line, resultMark); found {
			r := &result{}
			return r, json.Unmarshal([]byte(text), r)
		}
	}
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		return nil, fmt.Errorf("its process could not be run: %w", err)
	}
	// A program that crashes has broken a promise, too.
	said := problems.String() + out.String()
	return &result{Violation: fmt.Sprintf("the process ended: %v", err), History: said[:min(len(said), mostSaid)]}, nil
}

// simulate runs seed after seed and returns the code to exit with.
func simulate() int {
	asked, err := input()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitInput
	}
	ctx, began, sum, judged := context.Background(), time.Now(), &record.Simulation{}, false
	defer func() { tellSums(os.Stdout, sum, time.Since(began)) }()
	for seed := asked.first; seed == asked.first || time.Since(began) < asked.length; seed++ {
		r, err := runWorld(ctx, seed, asked.leaveOut)
		r.addTo(sum)
		if problem := r.keep(); problem != nil {
			fmt.Fprintln(os.Stderr, problem)
			return exitInput
		}
		switch {
		case err != nil:
			fmt.Fprintf(os.Stdout, "seed %d: not judged: %v\n", seed, err)
			continue
		case r.Violation != "":
			explain(ctx, seed, r, asked.leaveOut)
			return exitViolated
		}
		judged = true
		fmt.Fprintf(os.Stdout, "seed %d: kept, %d API writes, %d faults, %d disturbances, %s simulated, history %s\n",
			seed, r.Counts.Writes.Sum(), r.faults(), r.Counts.Disturbances.Sum(), r.Virtual.Round(time.Second), r.Digest)
	}
	if !judged {
		fmt.Fprintln(os.Stderr, "no world was judged, so nothing is known")
		return exitInput
	}
	return 0
}

// explain prints what is wrong, what happened before, and with how little it still is.
func explain(ctx context.Context, seed uint64, r *result, leaveOut []string) {
	fmt.Fprintf(os.Stdout, "%s\n\nseed %d: VIOLATED: %s\n", r.History, seed, r.Violation)
	left, skip := shrink(ctx, seed, r.Names, leaveOut)
	fmt.Fprintf(os.Stdout, "It still is with these %d of %d faults, disturbances and objects:\n", len(left), len(r.Names))
	for _, name := range left {
		fmt.Fprintln(os.Stdout, "  "+name)
	}
	command := "make simulate-faults"
	if *fuzzFlag {
		command = "make simulate-objects"
	}
	fmt.Fprintf(os.Stdout, "Repeat it with: %s SEED=%d\n", command, seed)
	if file, err := (&scenario{&seed, skip}).write(); err == nil {
		fmt.Fprintf(os.Stdout, "with nothing else: %s SCENARIO=%s\n", command, file)
	}
}

// shrink leaves out more for as long as a promise is broken without it, and returns what is left,
// and all that is left out.
func shrink(ctx context.Context, seed uint64, names, leaveOut []string) (left, skip []string) {
	end := time.Now().Add(*shrinkFlag)
	left, skip = slices.Clone(names), slices.Clone(leaveOut)
	for size := len(left) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(left) && time.Now().Before(end); {
			without := append(slices.Clone(skip), left[at:at+size]...)
			if r, err := runWorld(ctx, seed, without); err == nil && r.Violation != "" {
				skip, left = without, slices.Delete(left, at, at+size)
				continue
			}
			at += size
		}
	}
	return left, skip
}

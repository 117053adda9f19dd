// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Command planted takes the mends of faults out of Berth again, one at a time, and plants others
// where faults would be worst, and runs simulated worlds with each until one breaks a promise. It
// writes nothing into the tree: Go is shown changed files in the place of the right ones.
//
// Usage:
//
//	go run ./test/planted [-limit 10m] [-seed 1] [-record docs/reference] [-only REGEXP]
//
// The faults stand in faults.txt, with the reason for each that no world can see. The exit code is
// 1 if another one is not found within its time.
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"berth.dev/berth/test/internal/hunks"
	"berth.dev/berth/test/internal/record"
)

// listed are the faults. A remark says why no world can see one.
//
//go:embed faults.txt
var listed string

func main() {
	t := &trial{out: os.Stdout}
	flag.DurationVar(&t.limit, "limit", 10*time.Minute, "how long worlds are run with a fault")
	flag.IntVar(&t.seed, "seed", 1, "the first world")
	flag.StringVar(&t.record, "record", "", "folder of the record to add to, and of its page")
	only := flag.String("only", "", "the names of the faults to plant; all unless given")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	missed, err := t.run(ctx, *only)
	stop()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "planted:", err)
		os.Exit(2)
	case missed > 0:
		os.Exit(1)
	}
}

// trial runs worlds with faults.
type trial struct {
	out    io.Writer
	limit  time.Duration
	seed   int
	record string
}

// run plants faults, and returns how many were missed that worlds can see.
func (t *trial) run(ctx context.Context, only string) (missed int, err error) {
	chosen, err := regexp.Compile(only)
	if err != nil {
		return 0, fmt.Errorf("-only is no regular expression: %w", err)
	}
	all, err := hunks.Parse(listed)
	if err != nil {
		return 0, err
	}
	for _, f := range all {
		if !chosen.MatchString(f.Name) {
			continue
		}
		found, err := t.try(ctx, f)
		if err != nil {
			return missed, fmt.Errorf("%s: %w", f.Name, err)
		}
		fmt.Fprintf(t.out, "%s: %s\n", f.Name, verdict(found))
		if found.Seed == 0 && f.Remark == "" {
			missed++
		}
		if err := t.note(all, map[string]record.Planted{f.Name: found}); err != nil {
			return missed, err
		}
	}
	return missed, t.note(all, nil)
}

// note adds what became of faults to the record, if there is one, and takes over the remarks of
// all: one is written when worlds have not found a fault.
func (t *trial) note(all []*hunks.Change, become map[string]record.Planted) error {
	if t.record == "" {
		return nil
	}
	return record.Update(t.record, func(r *record.Record) {
		for _, f := range all {
			found, tried := become[f.Name]
			if !tried {
				found, tried = r.Planted[f.Name]
			}
			if found.Unseen = f.Remark; tried {
				r.Plant(f.Name, found)
			}
		}
	})
}

func verdict(found record.Planted) string {
	if found.Seed == 0 {
		return fmt.Sprintf("not found in %d s", found.Seconds)
	}
	return fmt.Sprintf("found after %d s, by seed %d: %s", found.Seconds, found.Seed, found.Said)
}

// unjudged is what a run exits with that has judged no world.
const unjudged = 1

// broken is how a run names the world that has broken a promise, and the promise.
var broken = regexp.MustCompile(`(?m)^seed (\d+): VIOLATED: (.*)$`)

// try runs worlds with a fault until one breaks a promise, or the time is up.
func (t *trial) try(ctx context.Context, f *hunks.Change) (record.Planted, error) {
	found := record.Planted{}
	folder, err := os.MkdirTemp("", "berth-planted-")
	if err != nil {
		return found, fmt.Errorf("making a folder for a fault: %w", err)
	}
	defer os.RemoveAll(folder)
	program := filepath.Join(folder, "simulation.test")
	if err := build(ctx, f, folder, program); err != nil {
		return found, err
	}
	began := time.Now()
	run := exec.CommandContext(ctx, program, "-seed="+strconv.Itoa(t.seed), "-duration="+t.limit.String(), "-shrink=0s")
	run.Dir = filepath.Join("test", "simulation")
	said, err := run.Output()
	found.Seconds = int(time.Since(began).Seconds())
	var ended *exec.ExitError
	switch match := broken.FindSubmatch(said); {
	case ctx.Err() != nil:
		return found, ctx.Err()
	case match != nil:
		found.Said = string(match[2])
		found.Seed, err = strconv.Atoi(string(match[1]))
		return found, err
	case errors.As(err, &ended) && ended.ExitCode() == unjudged:
		found.Said = "no world was judged"
		return found, nil
	case errors.As(err, &ended):
		return found, fmt.Errorf("the worlds ended with %w: %s", err, ended.Stderr)
	}
	return found, err
}

// build compiles the simulated worlds with a fault in them.
func build(ctx context.Context, f *hunks.Change, folder, program string) error {
	replace := map[string]string{}
	for _, path := range f.Files() {
		right, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("reading a file to plant a fault in: %w", err)
		}
		text, err := f.Apply(path, string(right))
		if err != nil {
			return err
		}
		absolute, err := filepath.Abs(path)
		if err != nil {
			return fmt.Errorf("finding %s: %w", path, err)
		}
		replace[absolute] = filepath.Join(folder, strings.ReplaceAll(path, "/", "_"))
		if err := os.WriteFile(replace[absolute], []byte(text), 0o600); err != nil {
			return fmt.Errorf("writing a fault: %w", err)
		}
	}
	overlay := filepath.Join(folder, "overlay.json")
	if text, err := json.Marshal(map[string]any{"Replace": replace}); err != nil {
		return fmt.Errorf("naming what is replaced: %w", err)
	} else if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return fmt.Errorf("naming what is replaced: %w", err)
	}
	command := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-ldflags=-s", "-overlay", overlay, "-o", program, "./test/simulation")
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("compiling: %w: %s", err, output)
	}
	return nil
}

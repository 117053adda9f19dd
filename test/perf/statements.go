// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// statements are those of Berth's packages that one call executes, by benchmark. They stand for the
// instructions that a processor would count where it can: many machines have no counters for it.
// What runs beside the benchmarks once a second adds next to nothing.
var statements = &baseline{file: "test/perf/statements.json", flag: "statements", unit: "statements in a thousand calls", tolerance: 0.03}

// counted are benchmarks of the plugins that are in the path of a decision, by their package.
var counted = []struct {
	folder     string
	benchmarks []string
}{
	{"pkg/plugins/clustermetrics", []string{"PreFilterAndPreScoreSkip", "PreFilter/nodes=1000", "Filter"}},
	{"pkg/plugins/clusterresource", []string{
		"PreFilterAndPreScoreSkip", "PreFilter/nodes=1000", "Filter", "PreScore", "Score", "Hints",
	}},
	{"pkg/plugins/nodegrouppolicy", []string{
		"PreFilterAndPreScoreSkip", "PreFilter/clusters=10/nodes=1000", "FilterAdmits", "FilterRejects", "PreScore", "Score", "Hints",
	}},
}

// A benchmark runs so often, and then so much more often: what it prepares is in both numbers, and
// not in their difference.
const fewCalls, moreCalls = 100, 20_000

// countStatements returns the statements that a thousand calls execute, for each benchmark.
func countStatements(ctx context.Context, out io.Writer) (map[string]int, error) {
	folder, err := os.MkdirTemp("", "berth-statements-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the benchmarks: %w", err)
	}
	defer os.RemoveAll(folder)
	measured := map[string]int{}
	for _, p := range counted {
		fmt.Fprintf(out, "statements: benchmarks of %s\n", p.folder)
		c := counter{program: filepath.Join(folder, path.Base(p.folder)), folder: p.folder, profile: filepath.Join(folder, "profile")}
		build := exec.CommandContext(ctx, "go", "test", "-c", "-covermode", "atomic", "-coverpkg", "./pkg/...", "-o", c.program, "./"+p.folder)
		if output, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("building the benchmarks of %s: %w\n%s", p.folder, err, lastLines(output))
		}
		for _, name := range p.benchmarks {
			executed, err := c.perThousand(ctx, name)
			if err != nil {
				return nil, err
			}
			measured[path.Base(p.folder)+" "+name] = executed
		}
	}
	return measured, nil
}

// counter counts what the benchmarks of one package execute.
type counter struct {
	program, folder, profile string
}

// perThousand returns the statements of a thousand calls.
func (c *counter) perThousand(ctx context.Context, benchmark string) (int, error) {
	few, err := c.count(ctx, benchmark, fewCalls)
	if err != nil {
		return 0, err
	}
	many, err := c.count(ctx, benchmark, fewCalls+moreCalls)
	if err != nil {
		return 0, err
	}
	if many-few < moreCalls {
		return 0, fmt.Errorf("benchmark %s of %s does nothing, or does not exist", benchmark, c.folder)
	}
	return (many - few) * 1000 / moreCalls, nil
}

// count returns the statements that a run of a benchmark executes.
func (c *counter) count(ctx context.Context, benchmark string, calls int) (int, error) {
	pattern := "^Benchmark" + strings.ReplaceAll(benchmark, "/", "$/^") + "$"
	command := exec.CommandContext(ctx, c.program, "-test.run", "^$", "-test.bench", pattern,
		"-test.benchtime", fmt.Sprintf("%dx", calls), "-test.coverprofile", c.profile)
	command.Dir = c.folder
	if output, err := command.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("running benchmark %s of %s: %w\n%s", benchmark, c.folder, err, lastLines(output))
	}
	content, err := os.ReadFile(c.profile)
	if err != nil {
		return 0, fmt.Errorf("reading what %s executes: %w", benchmark, err)
	}
	return executed(content)
}

// executed adds up a profile of go test. Its lines are FILE:FROM,TO STATEMENTS TIMES after one that
// tells the mode.
func executed(profile []byte) (int, error) {
	total := 0
	lines := bufio.NewScanner(bytes.NewReader(profile))
	if !lines.Scan() {
		return 0, errors.New("the profile is empty")
	}
	for lines.Scan() {
		var block string
		var statements, times int
		if _, err := fmt.Sscanf(lines.Text(), "%s %d %d", &block, &statements, &times); err != nil {
			return 0, fmt.Errorf("reading %q of a profile: %w", lines.Text(), err)
		}
		total += statements * times
	}
	return total, lines.Err()
}

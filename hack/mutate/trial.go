// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// trial runs the tests with a fault.
type trial struct {
	timeout time.Duration
	tests   []string
}

// verdict is what the tests say of a fault.
type verdict int

const (
	// survived: they pass.
	survived verdict = iota
	// detected: one fails, or takes too long.
	detected
	// senseless: it does not compile.
	senseless
)

// suite is a compiled test of a package.
type suite struct {
	program, folder string
	arguments       []string
	// timeout is how long it may take with a fault.
	timeout time.Duration
	// broken are its tests that fail because so many faults are woven in, those of allocations for
	// instance.
	broken []string
}

// compile compiles the tests of packages with other contents of files, into a folder.
func compile(ctx context.Context, folder string, packages []string, contents map[string][]byte) ([]*suite, verdict, error) {
	replace := map[string]string{}
	for path, content := range contents {
		replace[path] = filepath.Join(folder, fmt.Sprintf("%d.go", len(replace)))
		if err := os.WriteFile(replace[path], content, 0o600); err != nil {
			return nil, survived, fmt.Errorf("writing a fault: %w", err)
		}
	}
	overlay := filepath.Join(folder, "overlay.json")
	if content, err := json.Marshal(map[string]any{"Replace": replace}); err != nil {
		return nil, survived, fmt.Errorf("naming what is replaced: %w", err)
	} else if err := os.WriteFile(overlay, content, 0o600); err != nil {
		return nil, survived, fmt.Errorf("naming what is replaced: %w", err)
	}
	var suites []*suite
	for i, path := range packages {
		s := &suite{program: filepath.Join(folder, fmt.Sprintf("%d.test", i))}
		command := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", s.program, path)
		if output, err := command.CombinedOutput(); ctx.Err() != nil {
			return nil, survived, ctx.Err()
		} else if err != nil {
			return nil, senseless, fmt.Errorf("compiling the tests of %s: %s", path, output)
		}
		if _, err := os.Stat(s.program); errors.Is(err, fs.ErrNotExist) {
			continue // without tests
		}
		if err := s.describe(ctx, path); err != nil {
			return nil, survived, err
		}
		suites = append(suites, s)
	}
	return suites, survived, nil
}

// describe finds where a test runs, and with which arguments: random tests draw the same each time.
func (s *suite) describe(ctx context.Context, path string) error {
	output, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}} {{.TestImports}} {{.XTestImports}}", path).Output()
	if err != nil {
		return fmt.Errorf("listing %s: %w", path, err)
	}
	s.folder, _, _ = strings.Cut(string(output), " ")
	s.arguments = []string{"-test.failfast"}
	if bytes.Contains(output, []byte("pgregory.net/rapid")) {
		s.arguments = append(s.arguments, "-rapid.seed=1", "-rapid.nofailfile", "-rapid.shrinktime=1ns")
	}
	return nil
}

// measure runs a test with nothing wrong, to see how long it takes and what fails all the same.
func (s *suite) measure(ctx context.Context, longest time.Duration) error {
	for {
		s.timeout = longest
		begin := time.Now()
		output, passed := s.run(ctx, 0)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.timeout = min(longest, 3*time.Second+5*time.Since(begin))
		if passed {
			return nil
		}
		broken := failed(output)
		if len(broken) == 0 || slices.Contains(s.broken, broken[0]) {
			return fmt.Errorf("the tests in %s fail without a fault:\n%s", s.folder, output)
		}
		s.broken = append(s.broken, broken...)
	}
}

// failed returns the tests that have failed.
func failed(output []byte) []string {
	var names []string
	for line := range strings.Lines(string(output)) {
		if rest, found := strings.CutPrefix(line, "--- FAIL: "); found {
			name, _, _ := strings.Cut(rest, " ")
			names = append(names, name)
		}
	}
	return names
}

// run runs a test with a fault, and reports whether it passes. What makes it use up memory is
// caught, too.
func (s *suite) run(ctx context.Context, fault int) ([]byte, bool) {
	arguments := append([]string{"-c", `ulimit -v 8000000; exec "$@"`, "sh", s.program}, s.arguments...)
	arguments = append(arguments, "-test.timeout", s.timeout.String())
	if len(s.broken) > 0 {
		arguments = append(arguments, "-test.skip", "^("+strings.Join(s.broken, "|")+")$")
	}
	command := exec.CommandContext(ctx, "sh", arguments...)
	command.Dir = s.folder
	command.Env = append(os.Environ(), number+"="+strconv.Itoa(fault))
	output, err := command.CombinedOutput()
	return output, err == nil
}

// survives reports whether all suites pass with a fault.
func survives(ctx context.Context, suites []*suite, fault int) bool {
	return !slices.ContainsFunc(suites, func(s *suite) bool {
		_, passed := s.run(ctx, fault)
		return !passed
	})
}

// woven compiles tests once, with all faults of a package woven in.
func (t *trial) woven(ctx context.Context, folder string, s *subject, faults []*fault, tests []string) ([]*suite, error) {
	contents := map[string][]byte{filepath.Join(s.folder, "zz_planted.go"): chooser(s.name)}
	for _, f := range s.files {
		contents[f.path] = weave(f, faults)
	}
	suites, _, err := compile(ctx, folder, tests, contents)
	if err != nil {
		return nil, err
	}
	for _, suite := range suites {
		if err := suite.measure(ctx, t.timeout); err != nil {
			return nil, err
		}
	}
	return suites, nil
}

// alone compiles the tests with one fault, and runs them.
func (t *trial) alone(ctx context.Context, f *fault, tests []string) (verdict, error) {
	folder, err := os.MkdirTemp("", "berth-mutate-")
	if err != nil {
		return survived, fmt.Errorf("making a folder for a fault: %w", err)
	}
	defer os.RemoveAll(folder)
	text := slices.Concat(f.file.text[:f.start], []byte(f.text), f.file.text[f.end:])
	suites, verdict, err := compile(ctx, folder, tests, map[string][]byte{f.file.path: text})
	switch {
	case verdict == senseless:
		return senseless, nil
	case err != nil:
		return survived, err
	}
	for _, suite := range suites {
		suite.timeout = t.timeout
	}
	if survives(ctx, suites, 0) {
		return survived, ctx.Err()
	}
	return detected, ctx.Err()
}

// try runs the tests with each fault, and returns what they say: those of the package, and the
// others with what these do not catch.
func (t *trial) try(ctx context.Context, s *subject, faults []*fault) (map[*fault]verdict, error) {
	verdicts := map[*fault]verdict{}
	left := slices.Clone(faults)
	for _, tests := range [][]string{{s.path}, t.tests} {
		if len(tests) == 0 || len(left) == 0 {
			break
		}
		if err := t.tryWith(ctx, s, faults, left, tests, verdicts); err != nil {
			return nil, err
		}
		left = slices.DeleteFunc(left, func(f *fault) bool { return verdicts[f] != survived })
	}
	return verdicts, ctx.Err()
}

// tryWith runs some tests with some of the faults.
func (t *trial) tryWith(
	ctx context.Context, s *subject, all, faults []*fault, tests []string, verdicts map[*fault]verdict,
) error {
	folder, err := os.MkdirTemp("", "berth-mutate-")
	if err != nil {
		return fmt.Errorf("making a folder for faults: %w", err)
	}
	defer os.RemoveAll(folder)
	suites, err := t.woven(ctx, folder, s, all, tests)
	if err != nil {
		return err
	}
	incomplete := slices.ContainsFunc(suites, func(s *suite) bool { return len(s.broken) > 0 })
	for _, f := range faults {
		switch {
		case f.form != alone && !survives(ctx, suites, f.number):
			verdicts[f] = detected
		case f.form != alone && !incomplete:
			verdicts[f] = survived
		default:
			if verdicts[f], err = t.alone(ctx, f, tests); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

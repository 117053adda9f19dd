// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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
	verbose bool
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

// suite is the compiled tests of a package.
type suite struct {
	program, folder string
	arguments       []string
	tests           []*test
	// broken are those of them that fail because so many faults are woven in, tests of allocations
	// for instance.
	broken []*test
}

// test is one of them.
type test struct {
	name string
	// took is how long it takes when nothing is wrong, and timeout how long it may with a fault.
	took, timeout time.Duration
	// reaches are the faults that it comes to.
	reaches map[int]bool
	// output is what it writes if it fails when nothing is wrong.
	output []byte
	// whole says that it is run to its end, whatever fails: what comes later may come to more faults.
	whole bool
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
	if bytes.Contains(output, []byte("pgregory.net/rapid")) {
		s.arguments = append(s.arguments, "-rapid.seed=1", "-rapid.nofailfile", "-rapid.shrinktime=1ns")
	}
	return nil
}

// measure runs each test with nothing wrong, to see how long it takes, which faults it comes to and
// what fails all the same.
func (s *suite) measure(ctx context.Context, longest time.Duration) error {
	names, err := s.list(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		t := &test{name: name, timeout: longest, reaches: map[int]bool{}, whole: true}
		trace := filepath.Join(filepath.Dir(s.program), name+".reached")
		began := time.Now()
		output, passed := s.run(ctx, t, number+"=0", reached+"="+trace)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		t.took, t.whole = time.Since(began), false
		t.timeout = min(longest, 3*time.Second+5*t.took)
		content, err := os.ReadFile(trace)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("reading what %s comes to: %w", name, err)
		}
		for text := range strings.FieldsSeq(string(content)) {
			fault, err := strconv.Atoi(text)
			if err != nil {
				return fmt.Errorf("reading what %s comes to: %w", name, err)
			}
			t.reaches[fault] = true
		}
		if passed {
			s.tests = append(s.tests, t)
			continue
		}
		t.output = output
		s.broken = append(s.broken, t)
	}
	slices.SortFunc(s.tests, func(a, b *test) int { return cmp.Compare(a.took, b.took) })
	return nil
}

// list returns the names of the tests.
func (s *suite) list(ctx context.Context) ([]string, error) {
	command := exec.CommandContext(ctx, s.program, "-test.list", "^(Test|Fuzz|Example)")
	command.Dir = s.folder
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the tests in %s: %w", s.folder, err)
	}
	return strings.Fields(string(output)), nil
}

// run runs a test, and reports whether it passes. What makes it use up memory is caught, too.
func (s *suite) run(ctx context.Context, t *test, environment ...string) ([]byte, bool) {
	arguments := append([]string{"-c", `ulimit -v 8000000; exec "$@"`, "sh", s.program}, s.arguments...)
	arguments = append(arguments, "-test.timeout", t.timeout.String(), "-test.run", "^"+t.name+"$", "-test.failfast="+strconv.FormatBool(!t.whole))
	command := exec.CommandContext(ctx, "sh", arguments...)
	command.Dir = s.folder
	command.Env = append(os.Environ(), environment...)
	output, err := command.CombinedOutput()
	return output, err == nil
}

// survives reports whether all tests pass that come to a fault.
func (t *trial) survives(ctx context.Context, suites []*suite, fault int) bool {
	for _, s := range suites {
		for _, one := range s.tests {
			if !one.reaches[fault] {
				continue
			}
			if output, passed := s.run(ctx, one, number+"="+strconv.Itoa(fault)); !passed {
				t.tellf("  fails: %s\n%s", one.name, output)
				return false
			}
		}
	}
	return true
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
	broken := map[string]bool{}
	for _, s := range suites {
		if err := s.measure(ctx, t.timeout); err != nil {
			return nil, err
		}
		for _, b := range s.broken {
			broken[b.name] = true
			t.tellf("%s fails with all faults woven in, and is run with one at a time:\n%s", b.name, b.output)
		}
	}
	if len(broken) == 0 {
		return suites, nil
	}
	if caught, err := t.unwoven(ctx, tests, nil, func(name string) bool { return broken[name] }); err != nil {
		return nil, err
	} else if caught == detected {
		return nil, fmt.Errorf("the tests of %s fail without a fault", strings.Join(tests, ", "))
	}
	return suites, nil
}

// tellf writes something about a trial to the standard error, if it is to.
func (t *trial) tellf(format string, a ...any) {
	if t.verbose {
		fmt.Fprintf(os.Stderr, format+"\n", a...)
	}
}

// alone compiles the tests with one fault, and runs those that are wanted.
func (t *trial) alone(ctx context.Context, f *fault, tests []string, wanted func(name string) bool) (verdict, error) {
	text := slices.Concat(f.file.text[:f.start], []byte(f.text), f.file.text[f.end:])
	return t.unwoven(ctx, tests, map[string][]byte{f.file.path: text}, wanted)
}

// unwoven compiles the tests with other contents of files, and runs those that are wanted.
func (t *trial) unwoven(
	ctx context.Context, tests []string, contents map[string][]byte, wanted func(name string) bool,
) (verdict, error) {
	folder, err := os.MkdirTemp("", "berth-mutate-")
	if err != nil {
		return survived, fmt.Errorf("making a folder for a fault: %w", err)
	}
	defer os.RemoveAll(folder)
	suites, verdict, err := compile(ctx, folder, tests, contents)
	switch {
	case verdict == senseless:
		return senseless, nil
	case err != nil:
		return survived, err
	}
	for _, s := range suites {
		names, err := s.list(ctx)
		if err != nil {
			return survived, err
		}
		for _, name := range slices.DeleteFunc(names, func(name string) bool { return !wanted(name) }) {
			if output, passed := s.run(ctx, &test{name: name, timeout: t.timeout}); !passed {
				t.tellf("  fails: %s\n%s", name, output)
				return detected, ctx.Err()
			}
		}
	}
	return survived, ctx.Err()
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
	for _, f := range faults {
		t.tellf("%s:%d: %s", f.file.name, f.line, f)
		if verdicts[f], err = t.judge(ctx, f, suites, tests); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// judge runs tests with a fault. Those that fail with all faults woven in are run with this one
// compiled by itself, and so are all if it cannot be woven in.
func (t *trial) judge(ctx context.Context, f *fault, suites []*suite, tests []string) (verdict, error) {
	if f.form == alone {
		return t.alone(ctx, f, tests, func(string) bool { return true })
	}
	if !t.survives(ctx, suites, f.number) {
		return detected, ctx.Err()
	}
	again := map[string]bool{}
	for _, s := range suites {
		for _, b := range s.broken {
			again[b.name] = again[b.name] || b.reaches[f.number]
		}
	}
	if !slices.Contains(slices.Collect(maps.Values(again)), true) {
		return survived, ctx.Err()
	}
	return t.alone(ctx, f, tests, func(name string) bool { return again[name] })
}

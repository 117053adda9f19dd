// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Command repeatable builds the program of the simulated worlds so that a seed has the same history
// every time. What a seed does not decide otherwise is what Go leaves open: which goroutine goes
// first, and in which order a map is gone through. runtime.txt says which lines of Go's runtime are
// changed for that. Only the runtime is compiled anew, which takes seconds, and linked with all
// other packages as they are in the build cache.
//
// Usage:
//
//	go run ./test/simulation/repeatable -o bin/simulation.test
//
// With another version of Go the lines may not be there. Then the program is built as any other,
// which is said.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
)

// changes are those of the runtime.
//
//go:embed runtime.txt
var changes string

// worlds is the package of the simulated worlds.
const worlds = "./test/simulation"

func main() {
	output := flag.String("o", "bin/simulation.test", "the program to write")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := build(ctx, *output)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "repeatable:", err)
		os.Exit(1)
	}
}

// build builds the program, if it can so that seeds repeat.
func build(ctx context.Context, output string) error {
	compiled, err := archives(ctx, nil, "-deps", "-test", worlds)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "berth-repeatable-")
	if err != nil {
		return fmt.Errorf("making a folder for the runtime: %w", err)
	}
	defer os.RemoveAll(folder)
	if err := relink(ctx, folder, compiled, output); err != nil {
		fmt.Fprintf(os.Stderr, "with this version of Go a seed does not have the same history every time: %v\n", err)
		_, err := run(ctx, nil, "test", "-c", "-ldflags=-s", "-o", output, worlds)
		return err
	}
	return nil
}

// relink links what is compiled with a runtime that is changed.
func relink(ctx context.Context, folder string, compiled map[string]string, output string) error {
	root, err := run(ctx, nil, "env", "GOROOT")
	if err != nil {
		return err
	}
	changed, err := changeRuntime(strings.TrimSpace(root), folder)
	if err != nil {
		return err
	}
	runtime, err := archives(ctx, []string{"GOROOT=" + folder, "GOTOOLCHAIN=local"}, changed...)
	if err != nil {
		return err
	}
	var program string
	var config strings.Builder
	maps.Copy(compiled, runtime)
	for path, archive := range compiled {
		if strings.HasSuffix(path, ".test") {
			program = archive
			continue
		}
		fmt.Fprintf(&config, "packagefile %s=%s\n", path, archive)
	}
	file := filepath.Join(folder, "importcfg.link")
	if err := os.WriteFile(file, []byte(config.String()), 0o600); err != nil {
		return fmt.Errorf("listing what is to be linked: %w", err)
	}
	_, err = run(ctx, nil, "tool", "link", "-s", "-X=testing.testBinary=1", "-importcfg="+file, "-o="+output, program)
	return err
}

// archives compiles packages, unless that is done, and returns where they are by their import
// paths. Of a package that is compiled anew for a test that is what the program of the test has.
func archives(ctx context.Context, env []string, packages ...string) (map[string]string, error) {
	listed, err := run(ctx, env, append([]string{"list", "-export", "-f", "{{with .Export}}{{$.ImportPath}}={{.}}{{end}}"}, packages...)...)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for line := range strings.Lines(listed) {
		name, archive, _ := strings.Cut(strings.TrimSpace(line), "=")
		path, variant, _ := strings.Cut(name, " ")
		if _, known := found[path]; path != "" && (!known || variant != "") {
			found[path] = archive
		}
	}
	return found, nil
}

// run runs the go command and returns what it prints.
func run(ctx context.Context, env []string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "go", args...)
	command.Env = append(os.Environ(), env...)
	var problems strings.Builder
	command.Stderr = &problems
	printed, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w: %s", strings.Join(args[:2], " "), err, strings.TrimSpace(problems.String()))
	}
	return string(printed), nil
}

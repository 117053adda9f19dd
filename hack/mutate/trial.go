// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// faultsOf returns the faults that can be planted in a package, by the names of its files in the
// repository.
func faultsOf(ctx context.Context, name string) ([]fault, error) {
	output, err := exec.CommandContext(ctx, "go", "list", "-f", `{{range .GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}`, name).Output()
	if err != nil {
		return nil, fmt.Errorf("listing the files of %s: %w", name, err)
	}
	folder, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("finding the repository: %w", err)
	}
	var faults []fault
	for path := range strings.FieldsSeq(string(output)) {
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("reading a file of %s: %w", name, err)
		}
		file, err := filepath.Rel(folder, path)
		if err != nil {
			return nil, fmt.Errorf("naming %s: %w", path, err)
		}
		found, err := faultsIn(file, source)
		if err != nil {
			return nil, err
		}
		faults = append(faults, found...)
	}
	return faults, nil
}

// try runs the tests of a package, and the others, with a fault.
func (t *trial) try(ctx context.Context, name string, f fault) (verdict, error) {
	folder, err := os.MkdirTemp("", "berth-mutate-")
	if err != nil {
		return survived, fmt.Errorf("making a folder for a fault: %w", err)
	}
	defer os.RemoveAll(folder)
	source, err := os.ReadFile(f.file)
	if err != nil {
		return survived, fmt.Errorf("reading what is to be changed: %w", err)
	}
	path, err := filepath.Abs(f.file)
	if err != nil {
		return survived, fmt.Errorf("naming %s: %w", f.file, err)
	}
	changed, overlay := filepath.Join(folder, "changed.go"), filepath.Join(folder, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err != nil {
		return survived, fmt.Errorf("naming %s: %w", f.file, err)
	}
	source = slices.Concat(source[:f.start], []byte(f.text), source[f.end:])
	for file, content := range map[string][]byte{changed: source, overlay: replace} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			return survived, fmt.Errorf("writing a fault: %w", err)
		}
	}
	arguments := []string{"test", "-overlay", overlay, "-count=1", "-failfast", "-vet=off", "-timeout", t.timeout.String(), name}
	output, err := exec.CommandContext(ctx, "go", append(arguments, t.tests...)...).CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return survived, ctx.Err()
	case err == nil:
		return survived, nil
	case bytes.Contains(output, []byte("[build failed]")):
		return senseless, nil
	}
	return detected, nil
}

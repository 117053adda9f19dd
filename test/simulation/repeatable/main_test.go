// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"berth.dev/berth/test/internal/hunks"
)

// Each change fits Go's runtime, leaves its lines where they are, and makes Go of it.
func TestTheRuntimeCanBeChanged(t *testing.T) {
	if !strings.HasPrefix(runtime.Version(), "go1.26") {
		t.Skipf("the changes are made for Go 1.26, not for %s", runtime.Version())
	}
	all, err := hunks.Parse(changes)
	if err != nil {
		t.Fatal(err)
	}
	root, err := run(t.Context(), nil, "env", "GOROOT")
	if err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(strings.TrimSpace(root), "src")
	texts, err := apply(all, source)
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range texts {
		before, err := os.ReadFile(filepath.Join(source, path))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Count(text, "\n"), strings.Count(string(before), "\n"); got != want {
			t.Errorf("%s has %d lines, want %d", path, got, want)
		}
		if _, err := parser.ParseFile(token.NewFileSet(), path, text, 0); err != nil {
			t.Error(err)
		}
	}
}

// A tree of links has everything, and what it had before.
func TestMirror(t *testing.T) {
	root, folder := t.TempDir(), t.TempDir()
	for _, path := range []string{"VERSION", "src/a/a.go", "src/b/b.go", "src/b/c/c.go"} {
		if err := write(filepath.Join(root, path), path); err != nil {
			t.Fatal(err)
		}
	}
	if err := write(filepath.Join(folder, "src", "b", "b.go"), "changed"); err != nil {
		t.Fatal(err)
	}
	if err := mirror(root, folder); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"VERSION": "VERSION", "src/a/a.go": "src/a/a.go", "src/b/b.go": "changed", "src/b/c/c.go": "src/b/c/c.go",
	} {
		if got, err := os.ReadFile(filepath.Join(folder, path)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v, want %q", path, got, err, want)
		}
	}
	if link, err := os.Readlink(filepath.Join(folder, "src", "a")); err != nil || link != filepath.Join(root, "src", "a") {
		t.Errorf("src/a is linked to %q, %v", link, err)
	}
}

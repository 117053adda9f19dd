// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Command minors type-checks the programs and the suites with each minor of Kubernetes that Berth
// is compiled with beside that of go.mod. It reads sources instead of compiling, which takes
// seconds where the compiler takes minutes. Unit tests are left out: they are for the minor of
// go.mod.
//
// Usage:
//
//	go run ./hack/minors
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// folders begins the names of the folders of minors, and tag those of their build tags.
const folders, tag = "build/kubernetes-", "kubernetes_"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	found, err := filepath.Glob(folders + "*")
	if err != nil {
		return err
	}
	var failures []error
	for _, folder := range found {
		minor := strings.TrimPrefix(folder, folders)
		failures = append(failures, check(folder, minor, false, "./cmd/...", "./pkg/..."),
			check(folder, minor, true, "./test/integration/..."))
	}
	return errors.Join(failures...)
}

// check type-checks packages with a minor.
func check(folder, minor string, tests bool, patterns ...string) error {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax |
			packages.NeedTypesSizes | packages.NeedCompiledGoFiles,
		Tests:      tests,
		BuildFlags: []string{"-modfile=" + filepath.Join(folder, "go.mod"), "-tags=" + tag + strings.ReplaceAll(minor, ".", "_")},
		Env:        append(os.Environ(), "CGO_ENABLED=0"),
	}, patterns...)
	if err != nil {
		return fmt.Errorf("loading with Kubernetes %s: %w", minor, err)
	}
	var failures []error
	packages.Visit(loaded, nil, func(p *packages.Package) {
		for _, failure := range p.Errors {
			failures = append(failures, fmt.Errorf("with Kubernetes %s: %w", minor, failure))
		}
	})
	return errors.Join(failures...)
}

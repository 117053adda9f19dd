// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Command typecheck type-checks what Berth is compiled to beside the programs of this platform with
// the Kubernetes of go.mod. It reads sources instead of compiling, which takes seconds where the
// compiler takes minutes.
//
// Usage:
//
//	go run ./hack/typecheck minors
//	go run ./hack/typecheck platforms GOOS-GOARCH...
//
// The first checks the programs, the benchmarks of decisions and the suites with each other minor
// of Kubernetes; unit tests are left out, they are for the minor of go.mod. The second checks
// berthctl for other platforms.
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
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "minors":
		return checkMinors()
	case len(args) > 1 && args[0] == "platforms":
		return checkPlatforms(args[1:])
	}
	return errors.New("usage: typecheck minors | typecheck platforms PLATFORM, each as GOOS-GOARCH")
}

// checkMinors type-checks with each minor that there is a folder of.
func checkMinors() error {
	found, err := filepath.Glob(folders + "*")
	if err != nil {
		return err
	}
	var failures []error
	for _, folder := range found {
		minor := strings.TrimPrefix(folder, folders)
		with := packages.Config{
			BuildFlags: []string{"-modfile=" + filepath.Join(folder, "go.mod"), "-tags=" + tag + strings.ReplaceAll(minor, ".", "_")},
		}
		failures = append(failures, check(with, "with Kubernetes "+minor, "./cmd/...", "./pkg/...", "./test/perf"))
		with.Tests = true
		failures = append(failures, check(with, "with Kubernetes "+minor, "./test/integration/..."))
	}
	return errors.Join(failures...)
}

// checkPlatforms type-checks what users run on platforms of their own.
func checkPlatforms(platforms []string) error {
	var failures []error
	for _, platform := range platforms {
		system, architecture, found := strings.Cut(platform, "-")
		if !found {
			return fmt.Errorf("%q is no GOOS-GOARCH", platform)
		}
		with := packages.Config{Env: []string{"GOOS=" + system, "GOARCH=" + architecture}}
		failures = append(failures, check(with, "for "+platform, "./cmd/berthctl"))
	}
	return errors.Join(failures...)
}

// check type-checks packages in a certain way. How it is called in errors.
func check(with packages.Config, how string, patterns ...string) error {
	with.Mode = packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax |
		packages.NeedTypesSizes | packages.NeedCompiledGoFiles
	with.Env = append(append(os.Environ(), "CGO_ENABLED=0"), with.Env...)
	loaded, err := packages.Load(&with, patterns...)
	if err != nil {
		return fmt.Errorf("loading %s: %w", how, err)
	}
	var failures []error
	packages.Visit(loaded, nil, func(p *packages.Package) {
		for _, failure := range p.Errors {
			failures = append(failures, fmt.Errorf("%s: %w", how, failure))
		}
	})
	return errors.Join(failures...)
}

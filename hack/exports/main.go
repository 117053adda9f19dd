// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Command exports names the exported functions, types, variables, constants and methods that no
// other package uses. They should not be exported.
//
// Those of the API, of generated code and of the packages that only tests use may be unused. A
// method counts as used if an interface asks for it, a type if it appears in what is used.
//
// Usage:
//
//	go run ./hack/exports [PATTERN...]
package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

const module = "berth.dev/berth/"

func main() {
	patterns := os.Args[1:]
	if len(patterns) == 0 {
		patterns = []string{module + "..."}
	}
	found, err := load(patterns)
	if err != nil {
		fmt.Fprintln(os.Stderr, "exports:", err)
		os.Exit(2)
	}
	names := slices.DeleteFunc(unused(found, func(path string) bool { return !exempt(path) }), func(name string) bool {
		return vocabulary[name]
	})
	for _, name := range names {
		fmt.Println(name + " is used nowhere else; do not export it")
	}
	if len(names) > 0 {
		os.Exit(1)
	}
}

// vocabulary has names that belong to others beside them, which are used.
var vocabulary = map[string]bool{module + "pkg/simulator.Snapshot.Commit": true} // with Fork and Revert

// exempt reports whether the exported names of a package are for others than the packages of this
// module: pkg/feeds is what a FeedInventory plugin of somebody else is written with, test/upstream
// is called by the tests of Kubernetes that hack/upstream.sh compiles.
func exempt(path string) bool {
	path = strings.TrimPrefix(path, module)
	for _, prefix := range []string{"apis/", "pkg/generated/", "examples/", "pkg/feeds", "test/upstream"} {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	// Packages named so are for tests.
	return strings.HasSuffix(path, "test")
}

// load returns the packages with the types of all that they say, their tests included.
func load(patterns []string) ([]*packages.Package, error) {
	found, err := packages.Load(&packages.Config{
		Mode:  packages.LoadSyntax, // the modes it stands for work only together
		Tests: true,
	}, patterns...)
	if err != nil {
		return nil, err
	}
	for _, p := range found {
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("reading %s: %w", p.PkgPath, p.Errors[0])
		}
	}
	slices.SortFunc(found, func(a, b *packages.Package) int { return cmp.Compare(a.ID, b.ID) })
	return found, nil
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Command statements counts the statements of the code that Berth ships, in all and by folder.
// Comments, blank lines and the layout make no difference to the number, so it tells whether a
// change has made the code smaller.
//
// It leaves out tests, the packages that tests share, and generated code.
//
// Usage:
//
//	go run ./hack/statements [ROOT]
package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	if err := run(root); err != nil {
		fmt.Fprintln(os.Stderr, "statements:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	counts, err := count(os.DirFS(root))
	if err != nil {
		return err
	}
	byArea, total := map[string]int{}, 0
	for folder, statements := range counts {
		byArea[area(folder)] += statements
		total += statements
	}
	for _, name := range slices.Sorted(maps.Keys(byArea)) {
		fmt.Printf("%7d  %s\n", byArea[name], cmp.Or(name, "."))
	}
	fmt.Printf("%7d  in all\n", total)
	return nil
}

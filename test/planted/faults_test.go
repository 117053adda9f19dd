// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/parser"
	"go/token"
	"os"
	"testing"

	"berth.dev/berth/test/internal/hunks"
)

// Each fault can still be planted: what it takes the place of is there, once, and what comes of it
// is Go.
func TestEachFaultCanBePlanted(t *testing.T) {
	t.Chdir("../..")
	all, err := hunks.Parse(listed)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range all {
		t.Run(f.Name, func(t *testing.T) {
			if seen[f.Name] || len(f.Files()) == 0 {
				t.Error("there are two of the name, or it changes nothing")
			}
			seen[f.Name] = true
			for _, path := range f.Files() {
				right, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				text, err := f.Apply(path, string(right))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := parser.ParseFile(token.NewFileSet(), path, text, 0); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

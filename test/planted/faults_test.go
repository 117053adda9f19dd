// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// Each fault can still be planted: what it takes the place of is there, once, and what comes of it
// is Go.
func TestEachFaultCanBePlanted(t *testing.T) {
	t.Chdir("../..")
	all, err := parse(listed)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range all {
		t.Run(f.name, func(t *testing.T) {
			if seen[f.name] || len(f.hunks) == 0 {
				t.Error("there are two of the name, or it changes nothing")
			}
			seen[f.name] = true
			for path := range f.hunks {
				text, err := f.planted(path)
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

func TestWhatIsNoListOfFaults(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"a line of no fault": {"-- a.go", "line 1 belongs to no fault"},
		"a line of no file":  {"== a\n-x", "line 2 cannot be read"},
		"a line of no sort":  {"== a\n-- a.go\nx", "line 3 cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parse(test.text); err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("the error is %v, want %s", err, test.want)
			}
		})
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func parse(t *testing.T, set *token.FileSet, source string) *file {
	t.Helper()
	syntax, err := parser.ParseFile(set, "x.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return &file{path: "x.go", name: "x.go", text: []byte(source), syntax: syntax}
}

func TestFaultsOfAFile(t *testing.T) {
	const source = `package x

func f(a, b int, c bool) int {
	if c {
		log.Info("a")
		g()
	}
	for a < b && c == true {
		a++
		continue
	}
	b = a
	b *= 1 << 40
	b ^= 0x9e3779b97f4a7c15
	return a + 1
}
`
	set := token.NewFileSet()
	x := parse(t, set, source)
	faults := faultsIn(set, x)
	var got []string
	for _, f := range faults {
		got = append(got, f.String())
	}
	want := []string{
		"x.go f: c -> !(c)", "x.go f: g() -> (left out)",
		"x.go f: a < b && c == true -> a < b || c == true", "x.go f: a < b -> a <= b", "x.go f: c == true -> c != true",
		"x.go f: true -> false in for a < b && c == true {", "x.go f: a++ -> a--", "x.go f: continue -> (left out)",
		"x.go f: b = a -> _ = a",
		"x.go f: b *= 1 << 40 -> _ = 1 << 40", "x.go f: 1 -> 2 in b *= 1 << 40",
		"x.go f: b ^= 0x9e3779b97f4a7c15 -> _ = b ^ 0x9e3779b97f4a7c15",
		"x.go f: a + 1 -> a - 1", "x.go f: 1 -> 2 in return a + 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
	if f := faults[3]; source[:f.start]+f.text+source[f.end:] == source || f.line != 8 {
		t.Errorf("fault %s in line %d changes nothing", f, f.line)
	}
}

func TestReasons(t *testing.T) {
	got := reasons("# a comment\n\nx.go f: 1 -> 2\n  because it is\n  so\nx.go f: a -> b\n  why not\n")
	want := map[string]string{"x.go f: 1 -> 2": "because it is so", "x.go f: a -> b": "why not"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

// What is done to one function must not change which faults of others are tried.
func TestSampleStaysTheSame(t *testing.T) {
	faults := func(lines int) []*fault {
		found := make([]*fault, lines)
		for i := range found {
			found[i] = &fault{file: &file{name: "x.go"}, function: "f", old: strconv.Itoa(i), text: "0"}
		}
		return found
	}
	few, more := sample(faults(50), 20, 1), sample(faults(55), 20, 1)
	kept := 0
	for _, f := range more {
		if slices.ContainsFunc(few, func(g *fault) bool { return f.String() == g.String() }) {
			kept++
		}
	}
	if len(few) != 20 || len(more) != 20 || kept < 15 {
		t.Errorf("of %d and %d faults %d are the same", len(few), len(more), kept)
	}
	if other := sample(faults(50), 20, 2); slices.EqualFunc(few, other, func(f, g *fault) bool { return f.String() == g.String() }) {
		t.Error("another seed chooses the same")
	}
}

// TestEveryEquivalentFaultHasAReason keeps the list from being a way to be quiet.
func TestEveryEquivalentFaultHasAReason(t *testing.T) {
	for fault, reason := range reasons(equivalent) {
		if fault == "" || len(reason) < 20 {
			t.Errorf("%q: the reason %q tells too little", fault, reason)
		}
	}
}

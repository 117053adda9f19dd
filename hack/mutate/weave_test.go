// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// subjectOf is a package of one file without imports.
func subjectOf(t *testing.T, source string) *subject {
	t.Helper()
	s := &subject{path: "x", name: "x", set: token.NewFileSet()}
	s.files = []*file{parse(t, s.set, source)}
	if err := s.check(nil); err != nil {
		t.Fatal(err)
	}
	return s
}

const awkward = `package x

type amount int64
type flag bool

func g[T amount | int64](values []T, done chan int, limit T) (sum T, ok flag) {
	const first = 1
	seats := [1]int{0: 1}
	for i, j := 0, 1; i < len(values) && values[i] < limit; i++ {
		if v := values[i]; v > 1 || v == 0 {
			sum += v + 1
			continue
		}
		func() { j++ }()
		switch {
		case j > seats[0]:
			break
		}
	}
	name, least := "a"+"b", T(-1)
	select {
	case <-done:
		println(name)
	default:
	}
	ok = flag(sum > first<<1 && sum > least)
	if ok {
		return sum, true
	}
	return sum, !ok && sum+1 > 0
}
`

// TestAllFaultsInOneFile weaves faults into every place where the language is particular, and
// checks that the result is Go.
func TestAllFaultsInOneFile(t *testing.T) {
	s := subjectOf(t, awkward)
	faults, forms := s.faults(), map[string]form{}
	for _, f := range faults {
		forms[strings.TrimPrefix(f.String(), "x.go g: ")] = f.form
	}
	for text, want := range map[string]form{
		"i++ -> i--": header, "j++ -> j--": statement, "continue -> (left out)": jump, "break -> (left out)": jump,
		"v > 1 || v == 0 -> v > 1 && v == 0": expression, "true -> false in return sum, true": expression, "ok -> !(ok)": expression,
		"-1 -> -2 in name, least := \"a\"+\"b\", T(-1)": expression, "<-done -> (left out)": alone, "func() { j++ }() -> (left out)": statement, "sum += v + 1 -> _ = v + 1": statement,
	} {
		if got, found := forms[text]; !found || got != want {
			t.Errorf("%s has the form %d (found: %t), want %d", text, got, found, want)
		}
	}
	if _, found := forms[`"a"+"b" -> "a" - "b"`]; found {
		t.Error("a difference of strings is planted")
	}

	woven := string(weave(s.files[0], faults)) + "\nfunc planted(int) bool { return false }\n"
	set := token.NewFileSet()
	syntax, err := parser.ParseFile(set, "x.go", woven, 0)
	if err != nil {
		t.Fatalf("%v in\n%s", err, woven)
	}
	if _, err := new(types.Config).Check("x", set, []*ast.File{syntax}, nil); err != nil {
		t.Errorf("%v in\n%s", err, woven)
	}
}

func TestFaultsInFaults(t *testing.T) {
	s := subjectOf(t, "package x\n\nfunc f(a, b bool) bool {\n\treturn a && b == true\n}\n")
	got := string(weave(s.files[0], s.faults()))
	want := "package x\n\nfunc f(a, b bool) bool {\n\treturn (func() bool { if planted(1) { return a || b == true }; return a && " +
		"(func() bool { if planted(2) { return b != true }; return b == (func() bool { if planted(3) { return false }; " +
		"return true }()) }()) }())\n}\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("woven (-want +got):\n%s", diff)
	}
}

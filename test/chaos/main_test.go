// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"os"
	"testing"
)

// TestWrongFlagsAreToldInOneLine runs the command as a user does: what is wrong must not stand
// above a page of flags.
func TestWrongFlagsAreToldInOneLine(t *testing.T) {
	const bounds = "chaos: want 10 to 10000 pods, no more than 100 pages, a storm of 5s or more, no negative time, and nothing but flags\n"
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no number":     {[]string{"-seed", "x"}, "chaos: invalid value \"x\" for flag -seed: parse error\n"},
		"no duration":   {[]string{"-duration", "long"}, "chaos: invalid value \"long\" for flag -duration: parse error\n"},
		"too few pods":  {[]string{"-pods", "-3"}, bounds},
		"too many":      {[]string{"-pages", "101"}, bounds},
		"no flag":       {[]string{"now"}, bounds},
		"unknown":       {[]string{"-minutes", "3"}, "chaos: flag provided but not defined: -minutes\n"},
		"without value": {[]string{"-seed"}, "chaos: flag needs an argument: -seed\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var code int
			got := errorsOf(t, func() { code = command(t.Context(), c.args) })
			if code != exitUnjudged || got != c.want {
				t.Errorf("ends with %d and %q, want %d and %q", code, got, exitUnjudged, c.want)
			}
		})
	}
}

// errorsOf returns what is written to the standard error meanwhile.
func errorsOf(t *testing.T, do func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	before := os.Stderr
	os.Stderr = w
	do()
	os.Stderr = before
	var text bytes.Buffer
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(&text, r); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

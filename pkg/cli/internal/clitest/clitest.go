// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package clitest runs berthctl inside a test, with streams in memory.
package clitest

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"berth.dev/berth/pkg/cli"
)

// Result is what one run of berthctl left behind.
type Result struct {
	// Out and Err are what it printed.
	Out, Err string
	// Code is the exit status.
	Code int
}

// Run runs berthctl with arguments until it ends.
func Run(ctx context.Context, options cli.Options, args ...string) Result {
	var out, errOut bytes.Buffer
	options.Streams = genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}
	code := cli.Run(ctx, options, args)
	return Result{Out: out.String(), Err: errOut.String(), Code: code}
}

// CheckFailed checks that a run failed as every wrong input must: with exit status 1, nothing on
// standard output, and one line of bearable length on standard error that contains the text.
func (r Result) CheckFailed(t *testing.T, want string) {
	t.Helper()
	if r.Code != 1 {
		t.Errorf("exit status %d, want 1", r.Code)
	}
	if r.Out != "" {
		t.Errorf("standard output %.200q, want nothing", r.Out)
	}
	line, rest, ended := strings.Cut(r.Err, "\n")
	if !ended || rest != "" || len(line) > 1000 {
		t.Errorf("standard error %.1200q, want one line of at most 1000 characters", r.Err)
	}
	if !strings.HasPrefix(line, "error: ") || !strings.Contains(line, want) {
		t.Errorf("standard error %.1200q, want %q", r.Err, want)
	}
}

// CheckOutput checks that a run succeeded, printed exactly this, and complained about nothing.
func (r Result) CheckOutput(t *testing.T, want string) {
	t.Helper()
	if r.Code != 0 || r.Err != "" {
		t.Errorf("exit status %d, standard error %q", r.Code, r.Err)
	}
	if r.Out != want {
		t.Errorf("standard output\n%s\nwant\n%s", r.Out, want)
	}
}

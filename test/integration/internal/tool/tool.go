// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package tool finds programs of others that suites run and that Berth cannot build. A script gets
// each from the packages of the machine's distribution.
package tool

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"berth.dev/berth/pkg/localplane"
)

// Test is what tests of both kinds have: *testing.T and GinkgoT().
type Test interface {
	Helper()
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
}

// Require returns the path of a program that hack/install-FROM.sh gets, or else that of the
// machine. The test is skipped if this machine has none; in CI that fails unless the environment
// variable BERTH_FROM_MISSING says why.
func Require(t Test, name, from string) string {
	t.Helper()
	program, err := find(name, from)
	why := os.Getenv("BERTH_" + strings.ToUpper(from) + "_MISSING")
	switch {
	case err == nil:
		return program
	case why != "":
		t.Skipf("no %s: %s", name, why)
	case os.Getenv("CI") != "":
		t.Fatalf("%v", err)
	default:
		t.Skipf("%v", err)
	}
	return ""
}

func find(name, from string) (string, error) {
	dir, err := localplane.FindBinDir()
	if err != nil {
		return "", err
	}
	if program, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
		return program, nil
	}
	program, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("no %s here, hack/install-%s.sh gets one: %w", name, from, err)
	}
	return program, nil
}

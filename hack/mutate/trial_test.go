// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestWhatABrokenTestComesTo has a test that fails with all faults woven in after it came to the
// first one, and would come to the second.
func TestWhatABrokenTestComesTo(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	script := `#!/bin/sh
case "$*" in
*-test.list*) echo TestBroken; exit 0 ;;
*-test.failfast=true*) echo 1 >"$` + reached + `" ;;
*) echo 1 2 >"$` + reached + `" ;;
esac
exit 1
`
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	s := &suite{program: program, folder: filepath.Dir(program)}
	if err := s.measure(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	if len(s.tests) > 0 || len(s.broken) != 1 {
		t.Fatalf("%d tests and %d that are broken, want one that is", len(s.tests), len(s.broken))
	}
	if diff := cmp.Diff(map[int]bool{1: true, 2: true}, s.broken[0].reaches); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
	if s.broken[0].whole {
		t.Error("with a fault it is run to its end, too")
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnused(t *testing.T) {
	const testdata = module + "hack/exports/testdata/"
	found, err := load([]string{testdata + "a", testdata + "b"})
	if err != nil {
		t.Fatal(err)
	}
	got := unused(found, func(path string) bool { return strings.HasPrefix(path, testdata) })
	want := []string{testdata + "a.Closer", testdata + "a.Global", testdata + "a.Result.Own", testdata + "a.Tested", testdata + "a.Unused"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestLoadNamesThePackageThatIsNone(t *testing.T) {
	if _, err := load([]string{module + "hack/exports/testdata/none"}); err == nil {
		t.Error("no error for a package that does not exist")
	}
}

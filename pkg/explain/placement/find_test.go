// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package placement_test

import (
	"strings"
	"testing"

	"berth.dev/berth/pkg/explain/placement"
)

// FuzzParseName checks that a name either is refused with a message of bearable length, or means
// the same when it is read again.
func FuzzParseName(f *testing.F) {
	for _, seed := range []string{
		"nginx", "deployment/nginx", "deploy/nginx", "Deployment.apps/nginx", "/nginx", "deploy/", "a/b/c", "", "\x00", "./0", "a./b", "a\x00/b", "a.b.c/d.e",
		strings.Repeat("n", 1000),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, err := placement.ParseName(text)
		if err != nil {
			if len(err.Error()) > 3000 || strings.ContainsAny(err.Error(), "\n\x1b\x00") {
				t.Errorf("message %q", err.Error())
			}
			return
		}
		if !strings.Contains(text, "/") {
			return
		}
		again, err := placement.ParseName(name.String())
		if err != nil || again != name {
			t.Errorf("%q was read as %q, and that as %q: %v", text, name, again, err)
		}
	})
}

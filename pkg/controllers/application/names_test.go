// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"strings"
	"testing"
)

// Policies are stored under these names, and labels have these values.
func TestNamesStayAsTheyAreStored(t *testing.T) {
	b, long := strings.Repeat("b", 64), strings.Repeat("b", 64)+strings.Repeat("d", 180)
	tests := map[string]struct{ got, want string }{
		"short label":    {labelOf("web"), "web"},
		"longest label":  {labelOf(b[:63]), b[:63]},
		"long label":     {labelOf(b), b[:52] + "-a0fab1377f"},
		"trimmed label":  {labelOf(b[:51] + "-.-" + strings.Repeat("c", 20)), b[:51] + "-e2c3346edb"},
		"longest policy": {policyName.Shorten(long[:200]), long[:200]},
		"long policy":    {policyName.Shorten(long), long[:189] + "-647557224e"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.got != tc.want {
				t.Errorf("name is %q, want %q", tc.got, tc.want)
			}
		})
	}
}

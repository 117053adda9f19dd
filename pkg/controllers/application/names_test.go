// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"strings"
	"testing"
)

// Objects are found again by these values.
func TestNamesStayAsTheyAreStored(t *testing.T) {
	b := strings.Repeat("b", 64)
	tests := map[string]struct{ got, want string }{
		"short label":   {labelOf("web"), "web"},
		"longest label": {labelOf(b[:63]), b[:63]},
		"long label":    {labelOf(b), b[:52] + "-a0fab1377f"},
		"trimmed label": {labelOf(b[:51] + "-.-" + strings.Repeat("c", 20)), b[:51] + "-e2c3346edb"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.got != tc.want {
				t.Errorf("name is %q, want %q", tc.got, tc.want)
			}
		})
	}
}

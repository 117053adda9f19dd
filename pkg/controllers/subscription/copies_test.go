// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"strings"
	"testing"
)

// Copies are stored under these names, and their labels have these values.
func TestNamesOfCopiesStayAsTheyAreStored(t *testing.T) {
	a, b := strings.Repeat("a", 198), strings.Repeat("b", 64)
	tests := map[string]struct{ got, want string }{
		"short copy":    {copyName.Shorten("web-a"), "web-a"},
		"longest copy":  {copyName.Shorten(a + "-b"), a + "-b"},
		"long copy":     {copyName.Shorten(a + "-bc"), a + "-b-a1d3e4db334065e9"},
		"cut at a dash": {copyName.Shorten(a + "--b"), a + "---a2dfdddb3423a45d"},
		"longest label": {sourceLabel.Shorten(b[:63]), b[:63]},
		"long label":    {sourceLabel.Shorten(b), "5338487becab6325"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.got != tc.want {
				t.Errorf("name is %q, want %q", tc.got, tc.want)
			}
		})
	}
}

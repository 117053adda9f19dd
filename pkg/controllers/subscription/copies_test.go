// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"strings"
	"testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/division"
)

// Copies are stored under these names, and their labels have these values.
func TestNamesOfCopiesStayAsTheyAreStored(t *testing.T) {
	copyOf := func(name, cluster string) string {
		named := division.CopyOf(&berthv1alpha1.Feed{Name: name}, cluster)
		return named.Name
	}
	a, b := strings.Repeat("a", 198), strings.Repeat("b", 64)
	tests := map[string]struct{ got, want string }{
		"short copy":    {copyOf("web", "a"), "web-a"},
		"longest copy":  {copyOf(a, "b"), a + "-b"},
		"long copy":     {copyOf(a, "bc"), a + "-b-a1d3e4db334065e9"},
		"cut at a dash": {copyOf(a+"-", "b"), a + "---a2dfdddb3423a45d"},
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

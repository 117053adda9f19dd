// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"strings"
	"testing"

	"berth.dev/berth/pkg/model/policy"
)

func TestNamesForApplicationsStayAsTheyAreStored(t *testing.T) {
	long := strings.Repeat("b", 64) + strings.Repeat("d", 180)
	tests := map[string]struct{ name, want string }{
		"short":   {"api", "web-deployment-api"},
		"longest": {long[:185], "web-deployment-" + long[:185]},
		"long":    {long, "web-deployment-" + long[:174] + "-e5d2f50932"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := policy.NameForApplication("web", "Deployment", tc.name); got != tc.want {
				t.Errorf("name is %q, want %q", got, tc.want)
			}
		})
	}
}

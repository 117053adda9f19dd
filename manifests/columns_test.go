// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// What kubectl get shows of the kinds that users look at most, without -o wide.
func TestColumns(t *testing.T) {
	tests := map[string]string{
		"applications":        "Cluster Score Ready Moving Since Age",
		"subscriptions":       "Ready Strategy Type Parsed Scheduled Available Age",
		"propagationpolicies": "Ready Accepted Placed Reason Workloads Age",
	}
	for plural, want := range tests {
		t.Run(plural, func(t *testing.T) {
			var shown []string
			for _, column := range definition(t, filepath.Join("crds", "berth.dev_"+plural+".yaml")).Spec.Versions[0].AdditionalPrinterColumns {
				if column.Priority == 0 {
					shown = append(shown, column.Name)
				}
			}
			if got := strings.Join(shown, " "); got != want {
				t.Errorf("columns are %q, want %q", got, want)
			}
		})
	}
}

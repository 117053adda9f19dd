// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rights_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation"

	"berth.dev/berth/pkg/model/rights"
)

func TestParseDenial(t *testing.T) {
	for name, tc := range map[string]struct {
		message string
		want    rights.Denial
		found   bool
	}{
		"to impersonate": {
			message: `serviceaccounts "default" is forbidden: User "system:serviceaccount:berth-system:berth-controller-manager" ` +
				`cannot impersonate resource "serviceaccounts" in API group "" in the namespace "team"`,
			want: rights.Denial{
				User: "system:serviceaccount:berth-system:berth-controller-manager", Verb: "impersonate", Resource: "serviceaccounts",
			},
			found: true,
		},
		"with a group, after other words": {
			message: `writing x: deployments.apps "web" is forbidden: User "system:serviceaccount:team:default" cannot patch ` +
				`resource "deployments" in API group "apps" in the namespace "team"`,
			want:  rights.Denial{User: "system:serviceaccount:team:default", Verb: "patch", Resource: "deployments.apps"},
			found: true,
		},
		"of a quota":    {message: `pods "a" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1`},
		"cut short":     {message: `User "a" cannot patch resource "deployments" in API group "ap`},
		"with no verb":  {message: `User "a" may not`},
		"empty":         {},
		"of many users": {message: strings.Repeat(`User "`, 100_000)},
	} {
		t.Run(name, func(t *testing.T) {
			got, found := rights.ParseDenial(tc.message)
			if diff := cmp.Diff(tc.want, got); diff != "" && tc.found || found != tc.found {
				t.Errorf("found %t (-want +got):\n%s", found, diff)
			}
		})
	}
}

func TestCommand(t *testing.T) {
	for want, account := range map[string]string{
		"berthctl allow namespace team":                      "default",
		"berthctl allow namespace team --service-account ci": "ci",
	} {
		if got := rights.Command("team", account); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestObjectsOfLongNames checks that names stay names, and those of different accounts different.
func TestObjectsOfLongNames(t *testing.T) {
	long := strings.Repeat("a", 252)
	seen := map[string]bool{}
	for _, account := range []string{"a", long + "a", long + "b"} {
		role, bindings := rights.Objects("team", account)
		if wrong := validation.IsDNS1123Subdomain(role.Name); len(wrong) > 0 || seen[role.Name] {
			t.Errorf("name %q: %v", role.Name, wrong)
		}
		seen[role.Name] = true
		for _, binding := range bindings {
			if wrong := validation.IsDNS1123Subdomain(binding.Name); len(wrong) > 0 {
				t.Errorf("name %q: %v", binding.Name, wrong)
			}
		}
		if diff := cmp.Diff([]string{account}, role.Rules[0].ResourceNames); diff != "" || len(role.Rules) != 1 {
			t.Errorf("it may impersonate other accounts: %+v", role.Rules)
		}
	}
}

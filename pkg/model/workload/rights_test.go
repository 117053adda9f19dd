// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"berth.dev/berth/pkg/model/workload"
)

func TestTheProgramsMayFollowEveryKindOfTheTable(t *testing.T) {
	for file, program := range map[string]string{
		"scheduler-rbac.yaml": "berth-scheduler", "controller-manager-rbac.yaml": "berth-controller-manager",
	} {
		rules := rulesOf(t, filepath.Join("..", "..", "..", "manifests", "base", file), program)
		for _, kind := range workload.Kinds() {
			for _, verb := range []string{"list", "watch"} {
				if !slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool {
					return slices.Contains(r.APIGroups, kind.Group) && slices.Contains(r.Resources, kind.Resource) &&
						slices.Contains(r.Verbs, verb) && len(r.ResourceNames) == 0
				}) {
					t.Errorf("%s may not %s %s, see %s", program, verb, kind.Resource, file)
				}
			}
		}
	}
}

// rulesOf returns the rules of the ClusterRole of a program.
func rulesOf(t *testing.T, file, program string) []rbacv1.PolicyRule {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		var role rbacv1.ClusterRole
		if err := yaml.Unmarshal([]byte(document), &role); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if role.Kind == "ClusterRole" && role.Name == program {
			return role.Rules
		}
	}
	t.Fatalf("%s has no ClusterRole %s", file, program)
	return nil
}

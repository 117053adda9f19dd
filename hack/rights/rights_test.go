// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const manifests = `
- kind: ClusterRole
  metadata: {name: reader}
  rules:
  - {apiGroups: ["", apps], resources: [events, things/scale], verbs: [get, patch]}
- kind: ClusterRole
  metadata: {name: all}
  aggregationRule: {clusterRoleSelectors: [{matchLabels: {to: all}}]}
- kind: ClusterRole
  metadata: {name: part, labels: {to: all}}
  rules:
  - {apiGroups: [ray.io], resources: [rayjobs], verbs: [get]}
- kind: Role
  metadata: {name: reader, namespace: ns}
  rules:
  - {apiGroups: [""], resources: [leases], resourceNames: [a], verbs: [update]}
- kind: ClusterRole
  metadata: {name: unbound}
  rules:
  - {apiGroups: [""], resources: [secrets], verbs: [get]}
- kind: ClusterRoleBinding
  metadata: {name: reader}
  roleRef: {kind: ClusterRole, name: reader}
  subjects: [{name: x}]
- kind: ClusterRoleBinding
  metadata: {name: all}
  roleRef: {kind: ClusterRole, name: all}
  subjects: [{name: x}, {name: z}]
- kind: RoleBinding
  metadata: {name: reader, namespace: ns}
  roleRef: {kind: Role, name: reader}
  subjects: [{name: z}]
- kind: RoleBinding
  metadata: {name: of-kubernetes, namespace: kube-system}
  roleRef: {kind: Role, name: of-kubernetes}
  subjects: [{name: z}]
`

func TestGrants(t *testing.T) {
	var objects []*unstructured.Unstructured
	var contents []map[string]any
	if err := yaml.Unmarshal([]byte(manifests), &contents); err != nil {
		t.Fatal(err)
	}
	for _, content := range contents {
		objects = append(objects, &unstructured.Unstructured{Object: content})
	}
	got, err := grantsIn(objects)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"x get events", "x get events.apps", "x get rayjobs.ray.io", "x get things.apps/scale", "x get things/scale",
		"x patch events", "x patch events.apps", "x patch things.apps/scale", "x patch things/scale",
		"z get rayjobs.ray.io", "z update leases in ns",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("grants (-want +got):\n%s", diff)
	}
}

func TestCompare(t *testing.T) {
	for name, tc := range map[string]struct {
		granted, used []string
		kept          []reason
		want          string
	}{
		"all are used":      {granted: []string{"x get pods", "x list pods"}, used: []string{"x list pods", "x get pods", "x get nodes"}},
		"one is not":        {granted: []string{"x get pods", "x list pods"}, used: []string{"x get pods"}, want: `manifests/base gives "x list pods", which no suite uses`},
		"one with a reason": {granted: []string{"x get pods"}, kept: []reason{{Rights: []string{"x get pods"}}}},
		"one that is used after all": {
			granted: []string{"x get pods"}, used: []string{"x get pods"}, kept: []reason{{Rights: []string{"x get pods"}}},
		},
		"a reason without": {
			kept: []reason{{Rights: []string{"x get pods"}}}, want: `kept.yaml has a reason for "x get pods", which manifests/base does not give`,
		},
		"an informer":        {granted: []string{"x list pods", "x watch pods"}, used: []string{"x watch pods"}},
		"of another":         {granted: []string{"x get pods"}, used: []string{"z get pods"}, want: `manifests/base gives "x get pods", which no suite uses`},
		"in Berth's own":     {granted: []string{"x get pods"}, used: []string{"x get pods in ns"}},
		"everywhere in vain": {granted: []string{"x get pods", "x get pods in ns"}, used: []string{"x get pods in ns"}, want: `manifests/base gives "x get pods", which no suite uses`},
		"in one in vain":     {granted: []string{"x get pods", "x get pods in ns"}, used: []string{"x get pods"}, want: `manifests/base gives "x get pods in ns", which no suite uses`},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := compare(tc.granted, tc.used, tc.kept); err != nil {
				got = fmt.Sprint(err)
			}
			if got != tc.want {
				t.Errorf("compare = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestReadUsed(t *testing.T) {
	folder := t.TempDir()
	if _, err := readUsed(folder); err == nil {
		t.Error("readUsed found something in an empty folder")
	}
	for name, text := range map[string]string{"a": "x get pods\nx list pods\n", "b": "\n", "c": "z get pods\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := readUsed(folder)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"x get pods", "x list pods", "z get pods"}, got); diff != "" {
		t.Errorf("used (-want +got):\n%s", diff)
	}
}

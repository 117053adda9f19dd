// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localplane_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/localplane"
)

func TestShippedEnv(t *testing.T) {
	const deployment = `
apiVersion: apps/v1
kind: Deployment
spec:
  template:
    spec:
      containers:
      - name: scheduler
        env:
        - {name: GOGC, value: "200"}
        - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
        - {name: EMPTY}
`
	for name, tc := range map[string]struct {
		content string
		want    []string
		wantErr string
	}{
		"a Deployment alone":      {content: deployment, want: []string{"GOGC=200", "EMPTY="}},
		"behind another document": {content: "kind: Service\nspec: {selector: {a: b}}\n---" + deployment, want: []string{"GOGC=200", "EMPTY="}},
		"no Deployment":           {content: "kind: Service\n", wantErr: "has no Deployment"},
		"no YAML":                 {content: "kind: [", wantErr: "reading the environment of berth-scheduler from"},
	} {
		t.Run(name, func(t *testing.T) {
			manifests := t.TempDir()
			if err := os.MkdirAll(filepath.Join(manifests, "base"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(manifests, "base", "scheduler.yaml"), []byte(tc.content), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := localplane.ShippedEnv(manifests, localplane.BerthScheduler)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Fatalf("error %v, want %q", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
		})
	}
}

func TestShippedEnvOfTheManifests(t *testing.T) {
	for program, want := range map[string][]string{
		localplane.BerthScheduler: {"GOGC=200"}, localplane.BerthControllerManager: {"GOGC=200"},
	} {
		got, err := localplane.ShippedEnv(filepath.Join("..", "..", "manifests"), program)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("environment of %s (-want +got):\n%s", program, diff)
		}
	}
	if _, err := localplane.ShippedEnv(t.TempDir(), localplane.BerthScheduler); err == nil {
		t.Error("no error without manifests")
	}
}

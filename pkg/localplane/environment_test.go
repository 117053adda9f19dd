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

func TestSchedulerEnv(t *testing.T) {
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
		"no YAML":                 {content: "kind: [", wantErr: "reading the scheduler's environment from"},
	} {
		t.Run(name, func(t *testing.T) {
			manifests := t.TempDir()
			if err := os.MkdirAll(filepath.Join(manifests, "base"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(manifests, "base", "scheduler.yaml"), []byte(tc.content), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := localplane.SchedulerEnv(manifests)
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

func TestSchedulerEnvOfWhatIsShipped(t *testing.T) {
	got, err := localplane.SchedulerEnv(filepath.Join("..", "..", "manifests"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"GOGC=200"}, got); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
	if _, err := localplane.SchedulerEnv(t.TempDir()); err == nil {
		t.Error("no error without manifests")
	}
}

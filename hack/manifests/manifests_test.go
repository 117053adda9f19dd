// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const pod = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n"

func TestRun(t *testing.T) {
	for name, tc := range map[string]struct {
		files     map[string]string
		wantError string
	}{
		"two objects in one file":        {files: map[string]string{"a.yaml": pod + "---\n" + strings.Replace(pod, "name: a", "name: b", 1)}},
		"a comment before the object":    {files: map[string]string{"a.yaml": "# Comment\n---\n" + pod}},
		"the same object in two folders": {files: map[string]string{"x/a.yaml": pod, "y/a.yaml": pod}},
		"a key twice":                    {files: map[string]string{"a.yaml": pod + "kind: Job\n"}, wantError: "already set"},
		"not YAML":                       {files: map[string]string{"a.yaml": "a: [\n"}, wantError: "a.yaml"},
		"no kind":                        {files: map[string]string{"a.yaml": "apiVersion: v1\n"}, wantError: "no kind"},
		"an object twice":                {files: map[string]string{"a.yaml": pod, "b.yaml": pod}, wantError: "stands in"},
		"no file":                        {files: map[string]string{"README.md": ""}, wantError: "no YAML file"},
		"chart": {files: map[string]string{
			"values.yaml": "replicas: 2\n", "Chart.yaml": "name: berth\n", "templates/a.yaml": "{{ if .x }}\n",
		}},
		"kustomization":                       {files: map[string]string{"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": pod}},
		"kustomization with a file to patch":  {files: map[string]string{"kustomization.yaml": "patches: [{path: a.yaml}]\n", "a.yaml": pod}},
		"kustomization of a file that is not": {files: map[string]string{"kustomization.yaml": "resources: [a.yaml]\n"}, wantError: "lists a.yaml"},
		"kustomization that leaves a file out": {
			files: map[string]string{"kustomization.yaml": "resources: []\n", "a.yaml": pod}, wantError: "leaves out a.yaml",
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for file, content := range tc.files {
				path := filepath.Join(root, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			err := run([]string{root})
			if tc.wantError == "" && err != nil || tc.wantError != "" && (err == nil || !strings.Contains(err.Error(), tc.wantError)) {
				t.Errorf("error %v, want %q", err, tc.wantError)
			}
		})
	}
}

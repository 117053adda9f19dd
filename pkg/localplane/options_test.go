// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localplane_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth.dev/berth/pkg/localplane"
)

// fakeBinaries makes a directory in which every component is present and fails
// at once.
func fakeBinaries(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	script := []byte("#!/bin/sh\necho i refuse to run\nexit 1\n")
	for _, name := range []string{
		localplane.Etcd, localplane.APIServer, localplane.ControllerManager, localplane.Kwok,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), script, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestStartRefusesWhatCannotWork(t *testing.T) {
	binaries := fakeBinaries(t)
	incomplete := fakeBinaries(t)
	if err := os.Remove(filepath.Join(incomplete, localplane.Kwok)); err != nil {
		t.Fatal(err)
	}
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		options localplane.Options
		want    string
	}{
		"no directory for the binaries": {want: "no directory for the binaries"},
		"a binary is missing": {
			options: localplane.Options{BinDir: incomplete}, want: "run make build-control-plane first",
		},
		"the state directory is in use": {
			options: localplane.Options{BinDir: binaries, StateDir: full}, want: "is not empty",
		},
		"a component fails": {
			options: localplane.Options{BinDir: binaries, StateDir: filepath.Join(t.TempDir(), "state")}, want: "i refuse to run",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := localplane.Start(t.Context(), tc.options)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("Start() = %v, want an error with %q", err, tc.want)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(full, "mine")); err != nil {
		t.Errorf("a file of somebody else is gone: %v", err)
	}
}

func TestFailedStartLeavesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if _, err := localplane.Start(t.Context(), localplane.Options{BinDir: fakeBinaries(t), StateDir: dir}); err == nil {
		t.Fatal("Start() succeeded with programs that fail")
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the state directory is still there: %v", err)
	}
}

func TestFindBinDir(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "test", "integration")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte("module example.com/m\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		env, dir, want string
	}{
		"next to go.mod of an upper directory": {dir: deep, want: filepath.Join(root, "bin")},
		"the environment wins":                 {env: "/opt/berth", dir: deep, want: "/opt/berth"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv(localplane.BinDirEnv, tc.env)
			t.Chdir(tc.dir)
			got, err := localplane.FindBinDir()
			if err != nil {
				t.Fatal(err)
			}
			if got != tc.want {
				t.Errorf("FindBinDir() = %s, want %s", got, tc.want)
			}
		})
	}
}

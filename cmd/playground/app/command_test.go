// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"os"
	"path/filepath"
	"testing"

	"berth.dev/berth/cmd/internal/flagtest"
	"berth.dev/berth/cmd/playground/world"
)

func TestCompletePaths(t *testing.T) {
	for name, test := range map[string]struct {
		bin, manifests         string
		wantBin, wantManifests string
	}{
		"both named":         {bin: "/opt/bin", manifests: "/srv/manifests", wantBin: "/opt/bin", wantManifests: "/srv/manifests"},
		"programs only":      {bin: "/opt/berth/bin", wantBin: "/opt/berth/bin", wantManifests: "/opt/berth/manifests"},
		"relative to a path": {bin: "berth/bin", wantBin: "berth/bin", wantManifests: "berth/manifests"},
	} {
		t.Run(name, func(t *testing.T) {
			options := world.Options{BinDir: test.bin, Manifests: test.manifests}
			if err := completePaths(&options); err != nil {
				t.Fatal(err)
			}
			if options.BinDir != test.wantBin || options.Manifests != test.wantManifests {
				t.Errorf("programs in %s, manifests in %s, want %s and %s",
					options.BinDir, options.Manifests, test.wantBin, test.wantManifests)
			}
		})
	}
	t.Run("nothing named", func(t *testing.T) {
		options := world.Options{}
		if err := completePaths(&options); err != nil {
			t.Fatal(err)
		}
		if !filepath.IsAbs(options.BinDir) || options.Manifests != filepath.Join(filepath.Dir(options.BinDir), "manifests") {
			t.Errorf("programs in %s, manifests in %s, want those beside this program", options.BinDir, options.Manifests)
		}
	})
}

func TestShort(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(here, "bin", "berthctl"): filepath.Join("bin", "berthctl"),
		here:                                   ".",
		"/somewhere/else":                      "/somewhere/else",
	} {
		if got := short(path); got != want {
			t.Errorf("short(%s) = %s, want %s", path, got, want)
		}
	}
}

func TestCommandLine(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"a command that does not exist":        {args: []string{"down"}, want: "unknown command"},
		"an argument of up":                    {args: []string{"up", "two"}, want: "unknown command"},
		"no file to apply":                     {args: []string{"apply"}, want: "at least 1 arg"},
		"more clusters than are possible":      {args: []string{"up", "--clusters=101"}, want: "--clusters=101"},
		"the size of the demo, which is fixed": {args: []string{"demo", "--clusters=3"}, want: "unknown flag: --clusters"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := NewCommand()
			cmd.SilenceErrors = true
			cmd.SetArgs(test.args)
			flagtest.CheckError(t, cmd.ExecuteContext(t.Context()), test.want)
		})
	}
}

func TestManifestsOfPrograms(t *testing.T) {
	root := t.TempDir()
	programs, others := filepath.Join(root, "bin"), filepath.Join(root, "bin", "kubernetes-1.37")
	if got, want := manifestsOf(others), filepath.Join(root, "bin", "manifests"); got != want {
		t.Errorf("where there are none: %s, want %s", got, want)
	}
	want := filepath.Join(root, "manifests")
	if err := os.MkdirAll(want, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{programs, others} {
		if got := manifestsOf(dir); got != want {
			t.Errorf("of programs in %s: %s, want %s", dir, got, want)
		}
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package version_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	apimachineryversion "k8s.io/apimachinery/pkg/version"

	"berth.dev/berth/pkg/cli"
	"berth.dev/berth/pkg/cli/internal/clitest"
	"berth.dev/berth/pkg/cli/version"
)

func TestOf(t *testing.T) {
	tests := map[string]struct {
		built apimachineryversion.Info
		want  version.Info
	}{
		"a release": {
			built: apimachineryversion.Info{
				GitVersion: "v1.35.8+berth.0.1.0", GitCommit: "c0ffee", GoVersion: "go1.26.0", Platform: "linux/arm64",
			},
			want: version.Info{
				Version: "0.1.0", KubernetesVersion: "v1.35.8", GitCommit: "c0ffee", GoVersion: "go1.26.0", Platform: "linux/arm64",
			},
		},
		"nothing linked in": {
			built: apimachineryversion.Info{GitVersion: "v0.0.0-master+$Format:%H$", GitCommit: "$Format:%H$"},
			want:  version.Info{Version: "unknown", KubernetesVersion: "unknown", GitCommit: "unknown"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, version.Of(tc.built)); diff != "" {
				t.Errorf("info differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCommand(t *testing.T) {
	info := version.Get()
	t.Run("text", func(t *testing.T) {
		want := "berthctl unknown (Kubernetes unknown, commit unknown, " + info.GoVersion + ", " + info.Platform + ")\n"
		for _, arg := range []string{"version", "--version"} {
			clitest.Run(t.Context(), cli.Options{}, arg).CheckOutput(t, want)
		}
	})
	t.Run("json", func(t *testing.T) {
		result := clitest.Run(t.Context(), cli.Options{}, "version", "-o", "json")
		var got version.Info
		if err := json.Unmarshal([]byte(result.Out), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(info, got); diff != "" {
			t.Errorf("info differs (-want +got):\n%s", diff)
		}
	})
	t.Run("no arguments", func(t *testing.T) {
		clitest.Run(t.Context(), cli.Options{}, "version", "now").CheckFailed(t, `"now"`)
	})
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package version holds the command that tells which berthctl this is.
package version

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	apimachineryversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/component-base/version"

	"berth.dev/berth/pkg/cli/internal/output"
)

// Info is what the command prints.
type Info struct {
	// Version of Berth; "unknown" if the program was built without one.
	Version string `json:"version"`
	// KubernetesVersion is the release of Kubernetes that the program was built from.
	KubernetesVersion string `json:"kubernetesVersion"`
	// GitCommit that the program was built from.
	GitCommit string `json:"gitCommit"`
	// GoVersion is the release of Go that built the program.
	GoVersion string `json:"goVersion"`
	// Platform is the operating system and the architecture, as "linux/amd64".
	Platform string `json:"platform"`
}

// Get returns what was linked into the program.
func Get() Info { return of(version.Get()) }

// of takes apart what the build links in: the release of Kubernetes, then that of Berth as build
// metadata, for instance "v1.35.8+berth.0.1.0". Plain go build links nothing in.
func of(built apimachineryversion.Info) Info {
	kubernetes, berth, found := strings.Cut(built.GitVersion, "+berth.")
	if !found {
		kubernetes, berth = "unknown", "unknown"
	}
	commit := built.GitCommit
	if strings.HasPrefix(commit, "$") || commit == "" {
		commit = "unknown"
	}
	return Info{
		Version: berth, KubernetesVersion: kubernetes, GitCommit: commit,
		GoVersion: built.GoVersion, Platform: built.Platform,
	}
}

// String returns everything on one line.
func (i Info) String() string {
	return fmt.Sprintf("%s (Kubernetes %s, commit %s, %s, %s)",
		i.Version, i.KubernetesVersion, i.GitCommit, i.GoVersion, i.Platform)
}

// NewCommand returns the command version.
func NewCommand(streams genericiooptions.IOStreams) *cobra.Command {
	format := output.NewFlag(output.Text, output.JSON, output.YAML)
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this program",
		Long:    "Print the version of this program. No cluster is asked.",
		Example: "  berthctl version\n\n  # For a program\n  berthctl version -o json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			info := Get()
			return format.Print(streams.Out, info, func(w io.Writer) error {
				_, err := fmt.Fprintln(w, cmd.Root().DisplayName(), info)
				return err
			})
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	format.AddTo(cmd)
	return cmd
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package preview holds the commands that compute what Berth would decide, from arguments alone:
// they need no cluster.
package preview

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// subcommands lists the constructors of everything that can be previewed, one file each.
var subcommands = []func(genericiooptions.IOStreams) *cobra.Command{
	newDivision,
	newBinding,
	newConstraint,
	newRanking,
	newFeed,
}

// NewCommand returns the command preview.
func NewCommand(streams genericiooptions.IOStreams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "preview",
		Short: "Compute what Berth would decide, without a cluster",
		Long: "Compute what Berth would decide about numbers and files given on the command line. No cluster is needed: the\n" +
			"same code decides in the scheduler and the controllers.",
	}
	for _, construct := range subcommands {
		cmd.AddCommand(construct(streams))
	}
	return cmd
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package get holds the commands that show what there is.
package get

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"berth.dev/berth/pkg/cli/internal/client"
)

// subcommands lists the constructors of everything that can be shown, one file each.
var subcommands = []func(genericiooptions.IOStreams, *client.Factory) *cobra.Command{
	newPlacement,
	newClusters,
	newCluster,
	newBindings,
	newResources,
}

// NewCommand returns the command get.
func NewCommand(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "get",
		Short: "Show how replicas are placed",
		Long:  "Show what is in the cluster, as Berth sees it.",
	}
	for _, construct := range subcommands {
		cmd.AddCommand(construct(streams, factory))
	}
	return cmd
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package list holds the commands that list what is registered, in the words of Global Resource
// Scheduler.
package list

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/clusters"
)

// NewCommand returns the command list.
func NewCommand(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List what is registered",
		Long:  "List what is registered.",
	}
	cmd.AddCommand(clusters.NewListCommand(streams, factory, "berthctl list"))
	return cmd
}

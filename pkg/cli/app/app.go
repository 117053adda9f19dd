// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package app holds the commands for Applications.
package app

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"berth.dev/berth/pkg/cli/internal/client"
)

// kind is what messages call an Application.
const kind = "application"

// NewCommand returns the command app.
func NewCommand(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "app",
		Aliases: []string{"application", "apps", "applications"},
		Short:   "Create, change and show Applications, each of which runs in the best cluster",
		Long:    "Create, change and show Applications, each of which runs in the best cluster.",
	}
	cmd.AddCommand(newCreate(streams, factory), newUpdate(streams, factory))
	applications.AddTo(cmd, streams, factory, true)
	return cmd
}

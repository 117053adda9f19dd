// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package explain holds the commands that tell why something is as it is.
package explain

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"berth.dev/berth/pkg/cli/internal/client"
)

// subcommands lists the constructors of everything that can be explained, one file each.
var subcommands = []func(genericiooptions.IOStreams, *client.Factory) *cobra.Command{
	newApplication, newDeployment, newPod, newSubscription,
}

// NewCommand returns the command explain.
func NewCommand(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain",
		Short: "Tell why a pod, an application or a subscription runs where it does, or waits, and what was decided before",
		Long: "Tell why something is as it is. Kind and name may be one word, as kubectl get -o name prints them:\n" +
			"berthctl explain pod/nginx-7c5ddbdf54-x2x9m.",
	}
	for _, construct := range subcommands {
		cmd.AddCommand(construct(streams, factory))
	}
	return cmd
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"

	"github.com/spf13/cobra"

	"berth.dev/berth/cmd/playground/demo"
	"berth.dev/berth/cmd/playground/world"
)

func newDemoCommand(options *world.Options) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Show what Berth does in thirteen steps, check each, and clean up",
		Long: `Show what Berth does on real objects: a Deployment of which beijing gets two replicas for every three in hangzhou,
three licences that are never given to four pods, and three schedulers of which one is killed while it places pods.
Each of the thirteen steps is checked; the command fails at the first that does not come out as promised.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// The steps speak of two clusters, whose nodes hold all replicas.
			size := *options
			size.Clusters, size.Nodes = len(demo.Clusters), demo.NodesPerCluster
			out := cmd.OutOrStdout()
			w, err := world.Start(cmd.Context(), size, out)
			if err != nil {
				return err
			}
			return errors.Join(demo.Run(cmd.Context(), w, out), w.Stop())
		},
	}
}

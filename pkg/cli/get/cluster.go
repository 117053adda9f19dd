// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package get

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/clusters"
	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/registration"
)

const clusterLong = `Show a registered cluster, named by NAME, --name or --id. The flags may be written with a single dash.

JSON and YAML have the form of the registration API. What nodes it has is shown by: kubectl get bcl NAME -o yaml

Exit status 2 says that the command line names no cluster, or none that can exist.`

const clusterExample = `  # By name
  berthctl get cluster -name cluster1

  # By id, for a program
  berthctl get cluster -id 3dda2801-d675-4688-a63f-dcda8d327f51 -o json`

// newClusters returns get clusters, kubectl's word for list clusters.
func newClusters(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	return clusters.NewListCommand(streams, factory, "berthctl get")
}

func newCluster(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	key := &clusters.Key{}
	format := output.NewFlag(output.Table, output.Wide, output.JSON, output.YAML)
	cmd := &cobra.Command{
		Use:               "cluster [NAME]",
		Short:             "Show a registered cluster",
		Long:              clusterLong,
		Example:           clusterExample,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := key.Take(args); err != nil {
				return err
			}
			return showCluster(cmd.Context(), streams, factory, key, format)
		},
	}
	key.AddFlags(cmd.Flags())
	format.AddTo(cmd)
	return cmd
}

func showCluster(
	ctx context.Context, streams genericiooptions.IOStreams, factory *client.Factory, key *clusters.Key, format *output.Flag,
) error {
	clients, err := factory.Clients()
	if err != nil {
		return err
	}
	cluster, err := key.Find(ctx, clients)
	if err != nil {
		return err
	}
	document := registration.Document{Profile: registration.FromCluster(cluster)}
	return format.Print(streams.Out, document, func(w io.Writer) error {
		return clusters.Table(w, format.Wide(), []berthv1alpha1.Cluster{*cluster})
	})
}

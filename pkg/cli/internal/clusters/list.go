// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/output"
)

const listLong = `List all registered clusters.

  ID         the UID of the Cluster, given at registration and never again
  READY      True while at least one of its nodes can take pods; Unknown until Berth has looked
  NODES      nodes that belong to the cluster
  SCHEDULER  the scheduler that the cluster is bound to

With -o wide also COUNTRY, OPERATOR, ADDRESS and what the administrator declared of CPUS, MEMORY-GIB and PRICE. JSON and
YAML have the form of the registration API.`

// NewListCommand returns the command that lists all clusters, below the command of this path.
func NewListCommand(streams genericiooptions.IOStreams, factory *client.Factory, path string) *cobra.Command {
	format := output.NewFlag(output.Table, output.Wide, output.JSON, output.YAML)
	cmd := &cobra.Command{
		Use:               "clusters",
		Short:             "List all registered clusters",
		Long:              listLong,
		Example:           "  # The names of all clusters in one country\n  " + path + " clusters -o json | jq '.clusters[] | select(.cluster_spec.GeoLocation.country == \"US\") | .cluster_name'",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return list(cmd.Context(), streams, factory, format)
		},
	}
	format.AddTo(cmd)
	return cmd
}

func list(ctx context.Context, streams genericiooptions.IOStreams, factory *client.Factory, format *output.Flag) error {
	clients, err := factory.Clients()
	if err != nil {
		return err
	}
	all, err := List(ctx, clients)
	if err != nil {
		return err
	}
	if len(all) == 0 && format.ForPeople() {
		fmt.Fprintln(streams.ErrOut, "No clusters are registered.")
	}
	return format.Print(streams.Out, Profiles(all), func(w io.Writer) error { return Table(w, format.Wide(), all) })
}

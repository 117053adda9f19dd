// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package openstack holds the commands for OpenStack projects and Magnum clusters.
package openstack

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"berth.dev/berth/pkg/cli/internal/client"
)

// NewCommand returns the command os.
func NewCommand(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "os",
		Aliases: []string{"openstack"},
		Short:   "Create, show and delete OpenStack projects and Magnum clusters",
		Long:    "Create, show and delete OpenStack projects and Magnum clusters. Berth binds a Magnum cluster to the best project.",
	}
	project := &cobra.Command{
		Use:   "project",
		Short: "Create, show and delete OpenStack projects, in which Magnum clusters can be made",
		Long:  "Create, show and delete OpenStack projects, in which Magnum clusters can be made.",
	}
	project.AddCommand(newProject(streams, factory))
	projects.AddTo(project, streams, factory, true)
	cluster := &cobra.Command{
		Use:   "cluster",
		Short: "Create, show and delete Magnum clusters",
		Long:  "Create, show and delete Magnum clusters.",
	}
	cluster.AddCommand(newCluster(streams, factory))
	magnumClusters.AddTo(cluster, streams, factory, true)
	cmd.AddCommand(project, cluster)
	return cmd
}

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
		Short:   "Create OpenStack projects and Magnum clusters",
		Long:    "Create OpenStack projects and Magnum clusters. Berth binds a Magnum cluster to the best project.",
	}
	project := &cobra.Command{
		Use:   "project",
		Short: "Create OpenStack projects, in which Magnum clusters can be made",
		Long:  "Create OpenStack projects, in which Magnum clusters can be made.",
	}
	project.AddCommand(newProject(streams, factory))
	cluster := &cobra.Command{
		Use:   "cluster",
		Short: "Create Magnum clusters",
		Long:  "Create Magnum clusters.",
	}
	cluster.AddCommand(newCluster(streams, factory))
	cmd.AddCommand(project, cluster)
	return cmd
}

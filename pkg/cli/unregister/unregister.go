// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package unregister holds the command that unregisters clusters.
package unregister

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/clusters"
	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/registration"
)

const long = `Unregister a cluster, named by NAME, --name or --id. Its nodes and pods stay as they are.

A cluster in which replicas run that Berth placed stays registered, unless --force is given: then they run on, and Berth
looks after them no more.

The flags may be written with a single dash, and the word cluster may be left out. Exit status 2 says that the command
line names no cluster, or none that can exist.`

const example = `  # By name
  berthctl unregister cluster -name cluster1

  # By id
  berthctl unregister cluster -id 3dda2801-d675-4688-a63f-dcda8d327f51`

// word may stand before the name.
const word = "cluster"

// options are the flags of unregister.
type options struct {
	streams genericiooptions.IOStreams
	factory *client.Factory
	key     clusters.Key
	force   bool
	output  *output.Flag
}

// deletion is the answer, in the form of the registration API.
type deletion struct {
	Deleted string `json:"deleted"`
}

// NewCommand returns the command unregister.
func NewCommand(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	o := &options{streams: streams, factory: factory, output: output.NewFlag(output.Text, output.JSON, output.YAML)}
	cmd := &cobra.Command{
		Use:               "unregister [cluster] [NAME]",
		Short:             "Unregister a cluster",
		Long:              long,
		Example:           example,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: cobra.FixedCompletions([]string{word}, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && args[0] == word {
				args = args[1:]
			}
			if err := o.key.Take(args); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	o.key.AddFlags(cmd.Flags())
	cmd.Flags().BoolVar(&o.force, "force", false, "unregister the cluster although replicas that Berth placed run in it")
	o.output.AddTo(cmd)
	return cmd
}

func (o *options) run(ctx context.Context) error {
	clients, err := o.factory.Clients()
	if err != nil {
		return err
	}
	cluster, err := o.key.Find(ctx, clients)
	if err != nil {
		return err
	}
	if err := o.checkUnused(ctx, clients, cluster); err != nil {
		return err
	}
	// A cluster of the same name that was registered meanwhile is another one.
	err = clients.Berth.BerthV1alpha1().Clusters().Delete(ctx, cluster.Name,
		metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(cluster.UID))})
	action := fmt.Sprintf("unregistering cluster %q", cluster.Name)
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return fmt.Errorf("%s: it is gone already", action)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%s: not allowed, ask the administrator for the ClusterRole berth-cluster-editor: %w", action, err)
	case err != nil:
		return client.DescribeError(action, err)
	}
	return o.output.Print(o.streams.Out, deletion{Deleted: o.key.String()}, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "deleted: %s\n", o.key.String())
		return err
	})
}

func (o *options) checkUnused(ctx context.Context, clients client.Clients, cluster *berthv1alpha1.Cluster) error {
	if o.force {
		return nil
	}
	err := registration.CheckUnused(ctx, clients.Kubernetes.CoreV1(), cluster)
	var inUse *registration.InUseError
	if errors.As(err, &inUse) {
		return inUse
	}
	return client.DescribeError(fmt.Sprintf("looking whether cluster %q is in use", cluster.Name), err)
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package register holds the command that registers clusters.
package register

import (
	"context"
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
	"berth.dev/berth/pkg/cli/internal/values"
	"berth.dev/berth/pkg/registration"
)

const long = `Register the clusters of a file.

The file holds a cluster_profile, as the registration API takes it, in JSON or YAML, or Cluster objects, as kubectl takes
them. YAML may have several documents. Nothing is registered if one of them cannot be understood; if the API server
refuses one, those before it stay registered.

A HomeScheduler in a cluster_profile has no effect: Berth chooses the scheduler. The flag may be written with a single
dash, and the word cluster may be left out.

Exit status 2 says that the command line names no file.`

const example = `  # A file in the form of the registration API
  berthctl register cluster -filename cluster1.json

  # Clusters for kubectl work too, and so does standard input
  cat clusters.yaml | berthctl register -f -`

// fieldManager is the name under which the API server notes what the command wrote.
const fieldManager = "berthctl"

// options are the flags of register.
type options struct {
	streams genericiooptions.IOStreams
	factory *client.Factory
	file    values.File
	output  *output.Flag
}

// NewCommand returns the command register.
func NewCommand(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	o := &options{streams: streams, factory: factory, output: output.NewFlag(output.Text, output.JSON, output.YAML)}
	cmd := &cobra.Command{
		Use:                   "register [cluster] --filename FILE",
		Short:                 "Register clusters",
		Long:                  long,
		Example:               example,
		Args:                  cobra.ArbitraryArgs,
		ValidArgsFunction:     cobra.FixedCompletions([]string{"cluster"}, cobra.ShellCompDirectiveNoFileComp),
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 1 && args[0] != "cluster" {
				return values.UsageErrorf("only clusters can be registered, with: register cluster --filename FILE")
			}
			if !o.file.Given() {
				return values.UsageErrorf("name the file of the cluster: --filename FILE")
			}
			return o.run(cmd.Context())
		},
	}
	o.file.AddTo(cmd, "file with the clusters")
	o.output.AddTo(cmd)
	return cmd
}

func (o *options) run(ctx context.Context) error {
	wanted, err := values.ReadFile(&o.file, o.streams.In, read)
	if err != nil {
		return err
	}
	clients, err := o.factory.Clients()
	if err != nil {
		return err
	}
	var registered []berthv1alpha1.Cluster
	for _, cluster := range wanted {
		created, err := create(ctx, clients, cluster.Cluster)
		if err != nil {
			// What is registered already is part of the answer. The failure says more than one to
			// print it would.
			_ = o.print(registered)
			return err
		}
		for _, warning := range cluster.warnings {
			fmt.Fprintf(o.streams.ErrOut, "warning: cluster %s: %s\n", created.Name, output.OneLine(warning))
		}
		registered = append(registered, *created)
	}
	return o.print(registered)
}

func create(ctx context.Context, clients client.Clients, cluster *berthv1alpha1.Cluster) (*berthv1alpha1.Cluster, error) {
	created, err := clients.Berth.BerthV1alpha1().Clusters().Create(ctx, cluster, metav1.CreateOptions{FieldManager: fieldManager})
	action := fmt.Sprintf("registering cluster %q", cluster.Name)
	switch {
	case apierrors.IsAlreadyExists(err):
		return nil, fmt.Errorf("%s: the name is taken by a registered cluster", action)
	case apierrors.IsForbidden(err):
		return nil, fmt.Errorf("%s: not allowed, ask the administrator for the ClusterRole berth-cluster-editor: %w", action, err)
	}
	return created, client.DescribeBerthError(action, err)
}

// print shows what is registered, in the form of the registration API.
func (o *options) print(registered []berthv1alpha1.Cluster) error {
	var answer any = clusters.Profiles(registered)
	if len(registered) == 1 {
		answer = registration.Document{Profile: registration.FromCluster(&registered[0])}
	}
	if len(registered) == 0 {
		return nil
	}
	return o.output.Print(o.streams.Out, answer, func(w io.Writer) error {
		for i := range registered {
			fmt.Fprintf(w, "cluster %s registered, id %s\n", registered[i].Name, registered[i].UID)
		}
		return nil
	})
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cloud holds the commands for Clouds and GlobalClouds.
package cloud

import (
	"context"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/objects"
	"berth.dev/berth/pkg/cli/internal/output"
)

const long = `Create a Cloud, in which the clusters of its namespace can be made.

Clouds are ranked by their metrics. --metric and --global-metric are followed by two words, the name of the metric and its
weight; NAME=WEIGHT is understood too.`

const example = `  berthctl cloud create frankfurt --type openstack -l location=DE --metric heat_demand 3 --global-metric price 1`

const globalLong = `Create a GlobalCloud, in which everybody's clusters can be made.

Clouds are ranked by their metrics. --global-metric is followed by two words, the name of the metric and its weight;
NAME=WEIGHT is understood too.`

const globalExample = `  berthctl globalcloud create frankfurt --type openstack -l location=DE --global-metric price 1`

// options are the flags of cloud create and globalcloud create.
type options struct {
	streams genericiooptions.IOStreams
	factory *client.Factory
	output  *output.Flag
	kind    string
	spec    berthv1alpha1.CloudSpec
	labels  objects.Labels
	metrics objects.Metrics
}

// NewCommand returns the command cloud.
func NewCommand(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	o := &options{streams: streams, factory: factory, kind: "cloud"}
	cmd := &cobra.Command{
		Use:   "cloud",
		Short: "Create, show and delete Clouds, in which clusters can be made",
		Long:  "Create, show and delete Clouds, in which clusters can be made.",
	}
	create := o.command("Create a Cloud", long, example, o.create)
	o.metrics.AddTo(create.Flags())
	cmd.AddCommand(create)
	clouds.AddTo(cmd, streams, factory, true)
	return cmd
}

// NewGlobalCommand returns the command globalcloud.
func NewGlobalCommand(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	o := &options{streams: streams, factory: factory, kind: "globalcloud"}
	cmd := &cobra.Command{
		Use:     "globalcloud",
		Aliases: []string{"gcloud", "gc"},
		Short:   "Create, show and delete GlobalClouds, in which everybody's clusters can be made",
		Long:    "Create, show and delete GlobalClouds, in which everybody's clusters can be made.",
	}
	create := o.command("Create a GlobalCloud", globalLong, globalExample, o.createGlobal)
	o.metrics.AddGlobalTo(create.Flags())
	cmd.AddCommand(create)
	globalClouds.AddTo(cmd, streams, factory, true)
	return cmd
}

// command returns a command create without the flags for metrics.
func (o *options) command(
	short, long, example string, create func(context.Context, client.Clients, metav1.ObjectMeta) (objects.Object, error),
) *cobra.Command {
	o.output = output.NewFlag(output.Text, output.JSON, output.YAML)
	cmd := &cobra.Command{
		Use:               "create NAME",
		Short:             short,
		Long:              long,
		Example:           example,
		Args:              objects.OneName(o.kind),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args[0], create)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.spec.Type, "type", "", "type of the cloud, for instance openstack")
	flags.StringVar(&o.spec.URL, "url", "", "URL of the cloud; Berth does not connect to it")
	o.labels.AddTo(flags)
	o.output.AddTo(cmd)
	return cmd
}

func (o *options) run(
	ctx context.Context, name string, create func(context.Context, client.Clients, metav1.ObjectMeta) (objects.Object, error),
) error {
	labels, err := o.labels.Read()
	if err != nil {
		return err
	}
	namespace, err := o.factory.Namespace()
	if err != nil {
		return err
	}
	clients, err := o.factory.Clients()
	if err != nil {
		return err
	}
	o.spec.Metrics = o.metrics.References(namespace)
	created, err := create(ctx, clients, metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels})
	if err != nil {
		return err
	}
	return objects.Print(o.streams, o.output, o.kind, created, "created")
}

func (o *options) create(ctx context.Context, clients client.Clients, meta metav1.ObjectMeta) (objects.Object, error) {
	cloud := &berthv1alpha1.Cloud{ObjectMeta: meta, Spec: o.spec}
	return objects.Create(ctx, clients.Berth.BerthV1alpha1().Clouds(meta.Namespace), o.kind, cloud)
}

func (o *options) createGlobal(ctx context.Context, clients client.Clients, meta metav1.ObjectMeta) (objects.Object, error) {
	meta.Namespace = ""
	cloud := &berthv1alpha1.GlobalCloud{ObjectMeta: meta, Spec: berthv1alpha1.GlobalCloudSpec{CloudSpec: o.spec}}
	return objects.Create(ctx, clients.Berth.BerthV1alpha1().GlobalClouds(), o.kind, cloud)
}

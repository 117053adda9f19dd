// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cloud holds the commands for Clouds and GlobalClouds.
package cloud

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/kinds"
	"berth.dev/berth/pkg/cli/internal/objects"
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
	spec    berthv1alpha1.CloudSpec
	labels  objects.Labels
	metrics objects.Metrics
}

// NewCommand returns the command cloud.
func NewCommand(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cloud",
		Short: "Create, show and delete Clouds, in which clusters can be made",
		Long:  "Create, show and delete Clouds, in which clusters can be made.",
	}
	o := &options{}
	create := kinds.Creation[*berthv1alpha1.Cloud]{
		Kind: clouds.Name, Short: "Create a Cloud", Long: long, Example: example, Build: o.cloud,
		API: func(clients client.Clients, namespace string) objects.Creator[*berthv1alpha1.Cloud] {
			return clients.Berth.BerthV1alpha1().Clouds(namespace)
		},
	}.Command(streams, factory)
	o.addTo(create.Flags())
	o.metrics.AddTo(create.Flags())
	cmd.AddCommand(create)
	clouds.AddTo(cmd, streams, factory, true)
	return cmd
}

// NewGlobalCommand returns the command globalcloud.
func NewGlobalCommand(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "globalcloud",
		Aliases: []string{"gcloud", "gc"},
		Short:   "Create, show and delete GlobalClouds, in which everybody's clusters can be made",
		Long:    "Create, show and delete GlobalClouds, in which everybody's clusters can be made.",
	}
	o := &options{}
	create := kinds.Creation[*berthv1alpha1.GlobalCloud]{
		Kind: globalClouds.Name, Short: "Create a GlobalCloud", Long: globalLong, Example: globalExample, Build: o.globalCloud,
		API: func(clients client.Clients, _ string) objects.Creator[*berthv1alpha1.GlobalCloud] {
			return clients.Berth.BerthV1alpha1().GlobalClouds()
		},
	}.Command(streams, factory)
	o.addTo(create.Flags())
	o.metrics.AddGlobalTo(create.Flags())
	cmd.AddCommand(create)
	globalClouds.AddTo(cmd, streams, factory, true)
	return cmd
}

// addTo adds the flags but those for metrics.
func (o *options) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&o.spec.Type, "type", "", "type of the cloud, for instance openstack")
	flags.StringVar(&o.spec.URL, "url", "", "URL of the cloud; Berth does not connect to it")
	o.labels.AddTo(flags)
}

func (o *options) cloud(name, namespace string) (*berthv1alpha1.Cloud, error) {
	labels, err := o.labels.Read()
	o.spec.Metrics = o.metrics.References(namespace)
	return &berthv1alpha1.Cloud{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}, Spec: o.spec,
	}, err
}

func (o *options) globalCloud(name, _ string) (*berthv1alpha1.GlobalCloud, error) {
	labels, err := o.labels.Read()
	o.spec.Metrics = o.metrics.References("")
	return &berthv1alpha1.GlobalCloud{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Spec: berthv1alpha1.GlobalCloudSpec{CloudSpec: o.spec},
	}, err
}

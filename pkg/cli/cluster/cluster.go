// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cluster holds the commands that create a Cluster flag by flag, and show where
// applications could run.
package cluster

import (
	"fmt"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/kinds"
	"berth.dev/berth/pkg/cli/internal/objects"
	"berth.dev/berth/pkg/cli/internal/values"
	"berth.dev/berth/pkg/placement/constraint"
	"berth.dev/berth/pkg/registration"
)

const (
	// kind is what messages call a Cluster.
	kind = "cluster"

	// maxResources is how many custom resources a Cluster can offer.
	maxResources = 200
)

const long = `Create a Cluster: a group of nodes that exist, or, with --provision or a constraint on clouds, one that is to be made
in the best cloud that meets all constraints.

Clusters are ranked for Applications by their metrics. --metric and --global-metric are followed by two words, the name of
the metric and its weight; NAME=WEIGHT is understood too. A mistake in a constraint is answered with its column, before
anything is sent to the API server.

Clusters in files are registered with: berthctl register cluster --filename FILE`

const example = `  # Nodes that exist, and a metric to rank them by
  berthctl cluster create hamburg --node hh-1 --node hh-2 -l location=DE --global-metric load 0.45

  # A cluster that is to be made in a German cloud, and will offer a custom resource
  berthctl cluster create berlin --cloud-label-constraint 'location is DE' --custom-resource crontabs.stable.example.com`

// options are the flags of cluster create.
type options struct {
	nodes       []string
	matchLabels values.Texts
	labels      objects.Labels
	metrics     objects.Metrics
	resources   *values.CustomResources
	provision   bool
	// cloudNamespace is where Clouds are chosen from, beside GlobalClouds.
	cloudNamespace string
	cloudLabels    *values.Constraints
	cloudLoads     *values.Constraints
}

// NewCommand returns the command cluster.
func NewCommand(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "Create Clusters with metrics and custom resources, and show them",
		Long: "Create Clusters with metrics and custom resources, and show what of them counts for where applications run. They are\n" +
			"deleted with: berthctl unregister cluster NAME",
	}
	cmd.AddCommand(newCreate(streams, factory))
	placements.AddTo(cmd, streams, factory, false)
	return cmd
}

func newCreate(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	o := &options{
		resources:   values.NewCustomResources(maxResources),
		cloudLabels: values.NewConstraints(constraint.Label), cloudLoads: values.NewConstraints(constraint.Metric),
	}
	cmd := kinds.Creation[*berthv1alpha1.Cluster]{
		Kind: kind, Short: "Create a Cluster", Long: long, Example: example, Build: o.build,
		API: func(clients client.Clients, _ string) objects.Creator[*berthv1alpha1.Cluster] {
			return clients.Berth.BerthV1alpha1().Clusters()
		},
	}.Command(streams, factory)
	flags := cmd.Flags()
	flags.StringArrayVar(&o.nodes, "node", nil, "name of a node of the cluster; can be repeated")
	flags.Var(&o.matchLabels, "match-labels", "the nodes with all of these labels belong to the cluster")
	o.labels.AddTo(flags)
	o.metrics.AddTo(flags)
	flags.VarP(o.resources, "custom-resource", "R", "custom resource that the cluster offers; can be repeated")
	flags.BoolVar(&o.provision, "provision", false, "the cluster is to be made in the best cloud")
	flags.StringVar(&o.cloudNamespace, "cloud-namespace", "",
		"the cluster can be made in the Clouds of this namespace too, and not in GlobalClouds alone")
	flags.VarP(o.cloudLabels, "cloud-label-constraint", "L",
		"what a label of the cloud must be, for instance 'location is DE'; can be repeated")
	flags.VarP(o.cloudLoads, "cloud-metric-constraint", "M",
		"what a metric of the cloud must be, for instance 'load < 5'; can be repeated")
	return cmd
}

// build returns the Cluster that the flags describe.
func (o *options) build(name, namespace string) (*berthv1alpha1.Cluster, error) {
	if err := values.CheckName(kind, name); err != nil {
		return nil, err
	}
	if err := registration.CheckNewName(name); err != nil {
		return nil, err
	}
	for _, node := range o.nodes {
		if len(validation.IsDNS1123Subdomain(node)) > 0 {
			return nil, fmt.Errorf("--node: %.64q is no name of a node", node)
		}
	}
	labels, err := o.labels.Read()
	if err != nil {
		return nil, err
	}
	cluster := &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	cluster.Spec.Nodes = o.nodes
	cluster.Spec.MatchLabels = o.matchLabels.Values()
	cluster.Spec.Metrics = o.metrics.References(namespace)
	cluster.Spec.CustomResources = o.resources.Values()
	if o.provision || o.cloudNamespace != "" || len(o.cloudLabels.Values())+len(o.cloudLoads.Values()) > 0 {
		cluster.Spec.Provision = &berthv1alpha1.ClusterProvision{
			CloudNamespace: o.cloudNamespace, CloudLabels: o.cloudLabels.Values(), CloudMetrics: o.cloudLoads.Values(),
		}
	}
	return cluster, nil
}

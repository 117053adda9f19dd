// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/objects"
	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/cli/internal/values"
	"berth.dev/berth/pkg/placement/constraint"
)

const clusterKind = "magnum cluster"

const clusterLong = `Create a MagnumCluster. Berth binds it to the best OpenStackProject of its namespace that meets all constraints.

--metric and --global-metric are followed by two words, the name of a metric and its weight; NAME=WEIGHT is understood too.
A mistake in a constraint is answered with its column, before anything is sent to the API server.`

const clusterExample = `  berthctl os cluster create my-cluster --node-count 3 -L 'location is DE' --metric heat_demand_zone_1 54`

// The largest numbers of machines that a MagnumCluster can ask for.
const (
	maxMasters = 1_000
	maxNodes   = 10_000
)

// clusterOptions are the flags of os cluster create.
type clusterOptions struct {
	streams       genericiooptions.IOStreams
	factory       *client.Factory
	output        *output.Flag
	masters       *values.Number
	nodes         *values.Number
	labels        objects.Labels
	metrics       objects.Metrics
	projectLabels *values.Constraints
	projectLoads  *values.Constraints
}

func newCluster(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	o := &clusterOptions{
		streams: streams, factory: factory, output: output.NewFlag(output.Text, output.JSON, output.YAML),
		masters: values.NewNumber(values.Range{Min: 1, Max: maxMasters}),
		nodes:   values.NewNumber(values.Range{Min: 1, Max: maxNodes}),

		projectLabels: values.NewConstraints(constraint.Label), projectLoads: values.NewConstraints(constraint.Metric),
	}
	cmd := &cobra.Command{
		Use:               "create NAME",
		Short:             "Create a Magnum cluster",
		Long:              clusterLong,
		Example:           clusterExample,
		Args:              objects.OneName(clusterKind),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), cmd.Flags(), args[0])
		},
	}
	flags := cmd.Flags()
	flags.Var(o.masters, "master-count", fmt.Sprintf("machines of the control plane, 1 to %d; cannot be changed", maxMasters))
	flags.Var(o.nodes, "node-count", fmt.Sprintf("nodes, 1 to %d", maxNodes))
	o.labels.AddTo(flags)
	o.metrics.AddTo(flags)
	flags.VarP(o.projectLabels, "project-label-constraint", "L",
		"what a label of the project must be, for instance 'location is DE'; can be repeated")
	flags.VarP(o.projectLoads, "project-metric-constraint", "M",
		"what a metric of the project must be, for instance 'load < 5'; can be repeated")
	o.output.AddTo(cmd)
	return cmd
}

func (o *clusterOptions) run(ctx context.Context, flags *pflag.FlagSet, name string) error {
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
	cluster := &berthv1alpha1.MagnumCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}}
	cluster.Spec.MasterCount = given(flags, "master-count", o.masters)
	cluster.Spec.NodeCount = given(flags, "node-count", o.nodes)
	cluster.Spec.Constraints.ProjectLabels = o.projectLabels.Values()
	cluster.Spec.Constraints.ProjectMetrics = o.projectLoads.Values()
	cluster.Spec.Metrics = o.metrics.References(namespace)
	created, err := objects.Create(ctx, clients.Berth.BerthV1alpha1().MagnumClusters(namespace), clusterKind, cluster)
	if err != nil {
		return err
	}
	return objects.Print(o.streams, o.output, clusterKind, created, "created")
}

// given returns the number of a flag, nil if the user did not give it: Magnum then has a default.
func given(flags *pflag.FlagSet, name string, number *values.Number) *int32 {
	if !flags.Changed(name) {
		return nil
	}
	// The range of the flag is within that of an int32.
	value := int32(number.Value())
	return &value
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/kinds"
	"berth.dev/berth/pkg/cli/internal/objects"
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
	flags         *pflag.FlagSet
	masters       *values.Number
	nodes         *values.Number
	labels        objects.Labels
	metrics       objects.Metrics
	projectLabels *values.Constraints
	projectLoads  *values.Constraints
}

func newCluster(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	o := &clusterOptions{
		masters: values.NewNumber(values.Range{Min: 1, Max: maxMasters}),
		nodes:   values.NewNumber(values.Range{Min: 1, Max: maxNodes}),

		projectLabels: values.NewConstraints(constraint.Label), projectLoads: values.NewConstraints(constraint.Metric),
	}
	cmd := kinds.Creation[*berthv1alpha1.MagnumCluster]{
		Kind: clusterKind, Short: "Create a Magnum cluster", Long: clusterLong, Example: clusterExample, Build: o.cluster,
		API: func(clients client.Clients, namespace string) objects.Creator[*berthv1alpha1.MagnumCluster] {
			return clients.Berth.BerthV1alpha1().MagnumClusters(namespace)
		},
	}.Command(streams, factory)
	flags := cmd.Flags()
	o.flags = flags
	flags.Var(o.masters, "master-count", fmt.Sprintf("machines of the control plane, 1 to %d; cannot be changed", maxMasters))
	flags.Var(o.nodes, "node-count", fmt.Sprintf("nodes, 1 to %d", maxNodes))
	o.labels.AddTo(flags)
	o.metrics.AddTo(flags)
	flags.VarP(o.projectLabels, "project-label-constraint", "L",
		"what a label of the project must be, for instance 'location is DE'; can be repeated")
	flags.VarP(o.projectLoads, "project-metric-constraint", "M",
		"what a metric of the project must be, for instance 'load < 5'; can be repeated")
	return cmd
}

func (o *clusterOptions) cluster(name, namespace string) (*berthv1alpha1.MagnumCluster, error) {
	labels, err := o.labels.Read()
	cluster := &berthv1alpha1.MagnumCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}}
	cluster.Spec.MasterCount = o.given("master-count", o.masters)
	cluster.Spec.NodeCount = o.given("node-count", o.nodes)
	cluster.Spec.Constraints.ProjectLabels = o.projectLabels.Values()
	cluster.Spec.Constraints.ProjectMetrics = o.projectLoads.Values()
	cluster.Spec.Metrics = o.metrics.References(namespace)
	return cluster, err
}

// given returns the number of a flag, nil if the user did not give it: Magnum then has a default.
func (o *clusterOptions) given(name string, number *values.Number) *int32 {
	if !o.flags.Changed(name) {
		return nil
	}
	// The range of the flag is within that of an int32.
	value := int32(number.Value())
	return &value
}

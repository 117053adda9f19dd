// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cordon has the commands cordon, uncordon and drain, which keep pods away from a cluster
// and move away those that run there.
package cordon

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/clusters"
)

// word may stand before the name of the cluster.
const word = "cluster"

const cordonLong = `Mark a cluster as unschedulable, as kubectl cordon does with a node. Its pods run on, and no new ones come: the shares
that policies give it go to their other clusters, and Applications and Subscriptions choose others. A drain that is under
way stops.

Exit status 2 says that the command line names no cluster, or none that can exist.`

const uncordonLong = `Mark a cluster as schedulable again. Policies bring back what is its share; Applications stay where they are.

Exit status 2 says that the command line names no cluster, or none that can exist.`

// NewCommand returns the command cordon.
func NewCommand(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	return newMarkCommand(streams, factory, &cobra.Command{
		Use: "cordon [cluster] NAME", Short: "Keep new pods away from a cluster", Long: cordonLong,
		Example: "  # What runs in beijing stays, new pods go elsewhere\n  berthctl cordon cluster beijing",
	}, mark{Unschedulable: new(true)}, "cordoned")
}

// NewUncordonCommand returns the command uncordon.
func NewUncordonCommand(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	return newMarkCommand(streams, factory, &cobra.Command{
		Use: "uncordon [cluster] NAME", Short: "Let new pods into a cluster again", Long: uncordonLong,
		Example: "  # After a cordon or a drain\n  berthctl uncordon cluster beijing",
	}, mark{}, "uncordoned")
}

// mark is the part of the spec of a Cluster that the commands change. What is nil is removed.
type mark struct {
	Unschedulable *bool `json:"unschedulable"`
	Drain         *bool `json:"drain"`
}

// isSet reports whether a cluster is marked so already.
func (m mark) isSet(c *berthv1alpha1.Cluster) bool {
	return c.Spec.Unschedulable == (m.Unschedulable != nil) && c.Spec.Drain == (m.Drain != nil)
}

// newMarkCommand completes a command that marks a cluster and says what the cluster is then.
func newMarkCommand(
	streams genericiooptions.IOStreams, factory *client.Factory, cmd *cobra.Command, m mark, became string,
) *cobra.Command {
	key := &clusters.Key{}
	cmd.Args = cobra.ArbitraryArgs
	cmd.ValidArgsFunction = cobra.FixedCompletions([]string{word}, cobra.ShellCompDirectiveNoFileComp)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		clients, cluster, err := find(cmd.Context(), factory, key, args)
		if err != nil {
			return err
		}
		if m.isSet(cluster) {
			became = "already " + became
		} else if err := m.set(cmd.Context(), clients, cluster); err != nil {
			return err
		}
		_, err = fmt.Fprintf(streams.Out, "cluster/%s %s\n", cluster.Name, became)
		return err
	}
	key.AddFlags(cmd.Flags())
	return cmd
}

// find returns the cluster that the arguments and flags name.
func find(
	ctx context.Context, factory *client.Factory, key *clusters.Key, args []string,
) (client.Clients, *berthv1alpha1.Cluster, error) {
	if len(args) > 0 && args[0] == word {
		args = args[1:]
	}
	if err := key.Take(args); err != nil {
		return client.Clients{}, nil, err
	}
	clients, err := factory.Clients()
	if err != nil {
		return clients, nil, err
	}
	cluster, err := key.Find(ctx, clients)
	return clients, cluster, err
}

// set marks a cluster.
func (m mark) set(ctx context.Context, clients client.Clients, cluster *berthv1alpha1.Cluster) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": cluster.UID}, "spec": m})
	if err != nil {
		return err
	}
	_, err = clients.Berth.BerthV1alpha1().Clusters().Patch(ctx, cluster.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	action := fmt.Sprintf("changing cluster %q", cluster.Name)
	if apierrors.IsForbidden(err) {
		return fmt.Errorf("%s: not allowed, ask the administrator for the ClusterRole berth-cluster-editor: %w", action, err)
	}
	return client.DescribeError(action, err)
}

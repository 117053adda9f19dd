// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package get

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/clusters"
	"berth.dev/berth/pkg/cli/internal/output"
)

const bindingsLong = `Show which scheduler each cluster is bound to.

  SCHEDULER  the scheduler that the cluster is bound to
  PINNED-TO  the scheduler that spec.homeScheduler of the Cluster asks for

JSON and YAML have the form of preview binding, so that the two can be compared: a cluster that is not bound is bound to "".`

const bindingsExample = `  # How many clusters each scheduler has
  berthctl get bindings -o json | jq .load`

// bindings is the answer. The names of its fields are a promise to programs, and those of preview
// binding.
type bindings struct {
	Bindings map[string]string `json:"bindings"`
	Load     map[string]int    `json:"load"`
}

func newBindings(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	format := output.NewFlag(output.Table, output.JSON, output.YAML)
	cmd := &cobra.Command{
		Use:               "bindings",
		Aliases:           []string{"binding"},
		Short:             "Show which scheduler each cluster is bound to",
		Long:              bindingsLong,
		Example:           bindingsExample,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return showBindings(cmd.Context(), streams, factory, format)
		},
	}
	format.AddTo(cmd)
	return cmd
}

func showBindings(ctx context.Context, streams genericiooptions.IOStreams, factory *client.Factory, format *output.Flag) error {
	clients, err := factory.Clients()
	if err != nil {
		return err
	}
	all, err := clusters.List(ctx, clients)
	if err != nil {
		return err
	}
	if len(all) == 0 && format.ForPeople() {
		fmt.Fprintln(streams.ErrOut, "No clusters are registered.")
	}
	return format.Print(streams.Out, bindingsOf(all), func(w io.Writer) error {
		rows := make([][]any, 0, len(all))
		for i := range all {
			rows = append(rows, []any{
				all[i].Name, clusters.OrNone(all[i].Status.HomeScheduler), clusters.OrNone(all[i].Spec.HomeScheduler),
			})
		}
		return output.Rows(w, false, []output.Column{{Name: "Cluster"}, {Name: "Scheduler"}, {Name: "Pinned-To"}}, rows)
	})
}

func bindingsOf(all []berthv1alpha1.Cluster) bindings {
	b := bindings{Bindings: map[string]string{}, Load: map[string]int{}}
	for i := range all {
		scheduler := all[i].Status.HomeScheduler
		b.Bindings[all[i].Name] = scheduler
		if scheduler != "" {
			b.Load[scheduler]++
		}
	}
	return b
}

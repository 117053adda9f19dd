// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package room holds the command that counts how many more copies of a pod the clusters take.
package room

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/live"
	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/cli/internal/profile"
	"berth.dev/berth/pkg/cli/internal/values"
	"berth.dev/berth/pkg/explain/placement"
	"berth.dev/berth/pkg/model/workload"
)

const (
	// defaultLimit is the value of --limit, and maxLimit the most that it may be.
	defaultLimit = 1000
	maxLimit     = 100_000
)

const long = `Count how many more copies of a pod fit in each Cluster, and tell what stops the next one.

  CLUSTER     the Cluster
  ROOM        how many more copies it takes at once, at most --limit
  LIMITED BY  what stops the next copy, in the scheduler's words; <none> if there is room for --limit copies or more

The copies are like the newest pod of the workload or, if it has none, like its template makes them; with --filename they
are like the pod, or the pods of the workload, in the file. The filters of the scheduler's own plugins are run on the live
objects, so whatever stops a pod is counted: resources, taints, affinity, volumes, ClusterResources. Each Cluster is counted
as if the others got no copy: where several draw on one pool, they cannot all be filled. Nothing is changed, and no
PropagationPolicy is asked. To a pod in a file and to a template is added what the API server itself adds: defaults, those of
LimitRanges, the overhead of a RuntimeClass, priority and tolerations; what webhooks would add is not known. Pods that wait take
no room yet, those of the workload itself included.`

const example = `  # How far can this Deployment grow in each Cluster?
  berthctl room deployment/web -n shop

  # The same for a pod that does not exist yet
  berthctl room -f pod.yaml

  # All clusters with room for another ten copies
  berthctl room deployment/web -o json | jq -r '.clusters[] | select(.room >= 10).name'`

// options are the flags of room.
type options struct {
	streams genericiooptions.IOStreams
	factory *client.Factory
	output  *output.Flag
	file    values.File
	limit   *values.Number
	profile profile.Flags
}

// NewCommand returns the command room.
func NewCommand(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	o := &options{
		streams: streams, factory: factory, output: output.NewFlag(output.Table, output.JSON, output.YAML),
		limit: values.NewNumber(values.Range{Min: 1, Max: maxLimit}),
	}
	// The number lies within the range.
	_ = o.limit.Set(strconv.Itoa(defaultLimit))
	cmd := &cobra.Command{
		Use:               "room (KIND/NAME | -f FILENAME)",
		Short:             "Count how many more copies of a pod fit in each Cluster",
		Long:              long,
		Example:           example,
		Args:              o.oneWorkload,
		ValidArgsFunction: factory.Complete(workloadNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args)
		},
	}
	o.file.AddTo(cmd, "file with a pod, or with a workload that has a template of one")
	cmd.Flags().Var(o.limit, "limit", "count to this number in each Cluster")
	o.profile.AddTo(cmd)
	o.output.AddTo(cmd)
	return cmd
}

func (o *options) oneWorkload(cmd *cobra.Command, args []string) error {
	switch {
	case o.file.Given() && len(args) > 0:
		return errors.New("name a workload or --filename, not both")
	case !o.file.Given() && len(args) != 1:
		return fmt.Errorf("%d workloads named, name one: %s KIND/NAME, or use --filename", len(args), cmd.CommandPath())
	}
	return nil
}

func (o *options) run(ctx context.Context, args []string) error {
	configuration, err := o.profile.Configuration()
	if err != nil {
		return err
	}
	find, err := o.finder(args)
	if err != nil {
		return err
	}
	clients, err := o.factory.Clients()
	if err != nil {
		return err
	}
	fit, err := live.ReadFit(ctx, clients)
	if err != nil {
		return err
	}
	sample, err := find(ctx, clients, fit)
	if err != nil {
		return err
	}
	if err := sample.admit(ctx, clients); err != nil {
		return err
	}
	chosen, err := o.profile.Choose(configuration, sample.pod.Spec.SchedulerName)
	if err != nil {
		return err
	}
	if o.output.ForPeople() {
		profile.TellLeftOut(o.streams.ErrOut, chosen)
	}
	answer, err := count(ctx, chosen, fit, sample, int(o.limit.Value()))
	if err != nil {
		return err
	}
	if o.output.ForPeople() {
		printNotes(o.streams.ErrOut, answer, o.profile.Schedulers(), sample.pod.Spec.SchedulerName)
	}
	return o.output.Print(o.streams.Out, answer, func(w io.Writer) error {
		return output.Rows(w, false, columns, answer.rows())
	})
}

// workloadNames returns the workloads of a namespace as kind/name.
func workloadNames(ctx context.Context, clients client.Clients, namespace string) ([]string, error) {
	objects, err := live.Read(ctx, clients, namespace)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, o := range workload.Observe(&objects.Objects) {
		names = append(names, placement.Title(o.Kind, o.Name))
	}
	return names, nil
}

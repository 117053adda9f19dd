// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package simulate is the command berthctl simulate.
package simulate

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/live"
	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/cli/internal/profile"
	"berth.dev/berth/pkg/cli/internal/values"
	"berth.dev/berth/pkg/simulator/whatif"
)

const long = `Show where pods would run if something was changed. Nothing is changed.

The cluster is that of the first --filename, a file or directory with Nodes, Clusters, policies and workloads; or the live
one with --live. The other files, --scale, --run and --drain change it. What waits, and why, is asked of the filters and
scores of the scheduler's own plugins; what is divided, chosen and evicted, of the functions that decide it in Berth's
controllers. Of files alone nothing else is needed: what an API server would add to pods is added.

The table has a row for each workload and a column for each Cluster, with the pods that run there before and after. Before
is what runs now with --live, what the first --filename comes to if there are changes, and what its pods run otherwise.
Nodes that get into a Cluster by the changes count there before, too.
Below are the pods that would wait, with the scheduler's reason, the pods that would be evicted, by rebalancing, draining or for
a pod of higher priority, and those that a PodDisruptionBudget would keep on a node that is drained.

With --as-berth the workloads of a namespace, or one of them, count as Berth's whatever scheduler they name, also where Berth
is not installed: the Clusters and policies then come from files.

Exit status:
  0  everything finds its place
  1  the input was wrong, or the API server could not be reached
  2  something would wait, or not leave a node that is drained`

const example = `  # Where would the objects of a directory run?
  berthctl simulate -f world/

  # What if there were 20 of them, and a site was emptied?
  berthctl simulate -f world/ --scale deployment/shop/web=20 --drain cluster/beijing

  # What would another policy do to the live cluster?
  berthctl simulate --live -f policy.yaml

  # What would Berth do with workloads that are not its own?
  berthctl simulate --live --as-berth shop -f clusters.yaml -f policies.yaml`

type options struct {
	streams genericiooptions.IOStreams
	factory *client.Factory
	output  *output.Flag
	profile profile.Flags
	live    bool
	files   []string
	scale   []string
	jobs    []string
	drain   []string
	asBerth []string
}

// NewCommand returns the command.
func NewCommand(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	o := &options{streams: streams, factory: factory, output: output.NewFlag(output.Table, output.JSON, output.YAML)}
	cmd := &cobra.Command{
		Use:               "simulate (-f FILENAME | --live) [-f FILENAME]...",
		Short:             "Show where pods would run if something was changed",
		Long:              long,
		Example:           example,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&o.files, "filename", "f", nil, "file or directory with objects, - for standard input; may be repeated")
	flags.BoolVar(&o.live, "live", false, "begin with the live cluster, which is only read")
	flags.StringArrayVar(&o.scale, "scale", nil, "number of replicas, as KIND/NAMESPACE/NAME=REPLICAS; may be repeated")
	flags.StringArrayVar(&o.jobs, "run", nil, "CronJob whose next Job is to run now, as cronjob/NAMESPACE/NAME; may be repeated")
	flags.StringArrayVar(&o.drain, "drain", nil, "cluster/NAME or node/NAME to cordon and empty; may be repeated")
	flags.StringArrayVar(&o.asBerth, "as-berth", nil,
		"NAMESPACE or NAMESPACE/NAME of workloads that count as Berth's; may be repeated")
	o.profile.AddTo(cmd)
	o.output.AddTo(cmd)
	// It fails only for a flag that does not exist.
	_ = cmd.MarkFlagFilename("filename", "yaml", "yml", "json")
	return cmd
}

func (o *options) run(ctx context.Context) error {
	s, steps, err := o.prepare()
	if err != nil {
		return err
	}
	defer s.Close()
	result, err := o.simulate(ctx, s, steps)
	if err != nil {
		return err
	}
	if o.output.ForPeople() && len(result.Workloads) == 0 {
		fmt.Fprintln(o.streams.ErrOut, "No workloads found.")
	}
	err = o.output.Print(o.streams.Out, result, func(w io.Writer) error { return printTables(w, result) })
	if err == nil && !result.Fits() {
		return values.ErrNegative
	}
	return err
}

// input is what a simulation begins with, and what changes it.
type input struct {
	base    []runtime.Object
	files   [][]runtime.Object
	changes []change
}

// prepare reads all that can be read without a connection.
func (o *options) prepare() (*whatif.Simulation, *input, error) {
	namespace, err := o.namespace()
	if err != nil {
		return nil, nil, err
	}
	adopt, err := parseAdopt(o.asBerth)
	if err != nil {
		return nil, nil, err
	}
	in, err := o.read(namespace)
	if err != nil {
		return nil, nil, err
	}
	configuration, err := o.profile.Configuration()
	if err != nil {
		return nil, nil, err
	}
	chosen, err := o.profile.Choose(configuration, "")
	if err != nil {
		return nil, nil, err
	}
	if o.output.ForPeople() {
		profile.TellLeftOut(o.streams.ErrOut, chosen)
	}
	s, err := whatif.New(whatif.Options{Profile: chosen, Schedulers: o.profile.Schedulers(), Adopt: adopt})
	return s, in, err
}

// namespace is that of objects that name none. Without a connection it need not be known.
func (o *options) namespace() (string, error) {
	namespace, err := o.factory.Namespace()
	if err != nil && !o.live {
		return "default", nil
	}
	return namespace, err
}

func (o *options) read(namespace string) (*input, error) {
	in := &input{}
	if !o.live && len(o.files) == 0 {
		return nil, errors.New("name a --filename, or use --live")
	}
	r := &reader{in: o.streams.In, namespace: namespace}
	for i, name := range o.files {
		objects, err := r.read(name)
		if err != nil {
			return nil, err
		}
		if i == 0 && !o.live {
			in.base = objects
		} else {
			in.files = append(in.files, objects)
		}
	}
	for _, asked := range []struct {
		texts []string
		parse func(text, namespace string) (change, error)
	}{{o.scale, parseScale}, {o.jobs, parseRun}, {o.drain, parseDrain}} {
		for _, text := range asked.texts {
			c, err := asked.parse(text, namespace)
			if err != nil {
				return nil, err
			}
			in.changes = append(in.changes, c)
		}
	}
	return in, nil
}

// simulate carries the changes out.
func (o *options) simulate(ctx context.Context, s *whatif.Simulation, in *input) (*whatif.Result, error) {
	if err := o.begin(ctx, s, in); err != nil {
		return nil, err
	}
	before := s.Shares()
	s.Forget()
	for _, objects := range in.files {
		if err := s.Apply(ctx, objects...); err != nil {
			return nil, err
		}
	}
	adopted, err := s.Adopt()
	switch {
	case err != nil:
		return nil, err
	case adopted == 0 && len(o.asBerth) > 0:
		return nil, errors.New("--as-berth: there is no such workload")
	}
	for _, c := range in.changes {
		if err := c(ctx, s); err != nil {
			return nil, err
		}
	}
	if err := s.Settle(ctx); err != nil {
		return nil, err
	}
	return s.Result(before), nil
}

// begin makes the cluster as it is before the changes.
func (o *options) begin(ctx context.Context, s *whatif.Simulation, in *input) error {
	if o.live {
		clients, err := o.factory.Clients()
		if err != nil {
			return err
		}
		objects, err := live.ReadAll(ctx, clients)
		if err != nil {
			return err
		}
		owners, err := live.Owners(ctx, clients)
		if err != nil {
			return err
		}
		s.Confirm(owners)
		return s.Observe(objects...)
	}
	if err := s.Apply(ctx, in.base...); err != nil {
		return err
	}
	if len(in.files)+len(in.changes) == 0 {
		return nil
	}
	if _, err := s.Adopt(); err != nil {
		return err
	}
	return s.Settle(ctx)
}

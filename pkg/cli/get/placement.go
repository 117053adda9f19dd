// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package get

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/live"
	"berth.dev/berth/pkg/cli/internal/objects"
	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/cli/internal/values"
	"berth.dev/berth/pkg/explain/placement"
)

const placementLong = `Show how the replicas of workloads are shared out over clusters.

WORKLOAD is a name or KIND/NAME, such as nginx, deployment/nginx or deploy/nginx. Without it all workloads of the
namespace that a policy places are shown. The answer is worked out from the live objects, so it is right also while
Berth's own programs are down.

  DESIRED  the share of the cluster in the replicas of the workload; - if Berth cannot know how many are wanted
  CURRENT  pods of the newest revision that are bound to nodes of the cluster and not being deleted
  SHORT    replicas by which the cluster is short of its share
  PENDING  pods of the newest revision of the workload that wait for a node, in whatever cluster
  NODES    different nodes of the cluster on which the current replicas run

With -o wide also:

  OLD            bound pods of older revisions, during a rollout
  CLUSTER-NODES  nodes that belong to the cluster
  READY-NODES    those of them that are ready and not cordoned
  MISPLACED      pods of the whole workload that run outside their share
  POLICY         the PropagationPolicy in force

Pods outside the clusters of the policy have rows of their own, <none> standing for nodes in no cluster.`

const placementExample = `  # All placed workloads of the namespace
  berthctl get placement

  # One workload, printed again whenever something changes
  berthctl get placement deployment/nginx --watch

  # How many pods run outside their share, over all namespaces
  berthctl get placement -A -o json | jq '[.items[].misplaced] | add'`

// placementOptions are the flags of get placement.
type placementOptions struct {
	streams       genericiooptions.IOStreams
	factory       *client.Factory
	output        *output.Flag
	schedulers    *values.Names
	allNamespaces bool
	watch         bool
}

// placements is the answer. The names of its fields are a promise to programs.
type placements struct {
	Items []placement.Workload `json:"items"`
	// unserved is the number of selected workloads that use another scheduler.
	unserved int
}

func newPlacement(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	o := &placementOptions{
		streams: streams, factory: factory,
		output: output.NewFlag(output.Table, output.Wide, output.JSON, output.YAML),
	}
	cmd := &cobra.Command{
		Use:               "placement [WORKLOAD]",
		Aliases:           []string{"placements"},
		Short:             "Show how the replicas of workloads are shared out over clusters",
		Long:              placementLong,
		Example:           placementExample,
		Args:              objects.AtMostOneName,
		ValidArgsFunction: factory.Complete(o.names),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "show the workloads of all namespaces")
	flags.BoolVarP(&o.watch, "watch", "w", false, "print again after every change, until interrupted")
	o.schedulers = values.AddSchedulersFlag(flags)
	o.output.AddTo(cmd)
	return cmd
}

func (o *placementOptions) run(ctx context.Context, args []string) error {
	var name *placement.Name
	if len(args) > 0 {
		parsed, err := placement.ParseName(args[0])
		if err != nil {
			return err
		}
		if o.allNamespaces {
			return errors.New("a workload cannot be named together with --all-namespaces")
		}
		name = &parsed
	}
	namespace, err := o.namespace()
	if err != nil {
		return err
	}
	clients, err := o.factory.Clients()
	if err != nil {
		return err
	}
	show := o.shower(namespace, name)
	if o.watch {
		return live.Watch(ctx, clients, namespace, o.warn, show)
	}
	objects, err := live.Read(ctx, clients, namespace)
	if err != nil {
		return err
	}
	return show(objects)
}

func (o *placementOptions) namespace() (string, error) {
	if o.allNamespaces {
		return metav1.NamespaceAll, nil
	}
	return o.factory.Namespace()
}

func (o *placementOptions) warn(problem error) {
	fmt.Fprintln(o.streams.ErrOut, "warning:", output.OneLine(problem.Error())+"; trying again")
}

// shower returns a function that prints the placements that follow from the objects. A workload
// that was there once may vanish while it is watched, and come back.
func (o *placementOptions) shower(namespace string, name *placement.Name) func(*placement.Objects) error {
	repeater := output.NewRepeater(o.streams, o.output)
	return func(objects *placement.Objects) error {
		var out, notes bytes.Buffer
		found, err := o.find(objects, namespace, name)
		switch {
		case err == nil:
			if err := o.print(&out, &notes, namespace, found); err != nil {
				return err
			}
		case repeater.Printed():
			fmt.Fprintln(&notes, output.OneLine(err.Error()))
		default:
			return err
		}
		return repeater.Print(out.Bytes(), notes.Bytes())
	}
}

// names returns the workloads of a namespace that a policy places.
func (o *placementOptions) names(ctx context.Context, clients client.Clients, namespace string) ([]string, error) {
	objects, err := live.Read(ctx, clients, namespace)
	if err != nil {
		return nil, err
	}
	placed, _ := placement.NewState(objects, o.schedulers.Values()).Placed()
	titles := make([]string, len(placed))
	for i := range placed {
		titles[i] = placed[i].Title()
	}
	return titles, nil
}

func (o *placementOptions) find(objects *placement.Objects, namespace string, name *placement.Name) (placements, error) {
	state := placement.NewState(objects, o.schedulers.Values())
	if name != nil {
		found, err := state.Find(namespace, *name)
		return placements{Items: found}, err
	}
	placed, unserved := state.Placed()
	return placements{Items: placed, unserved: unserved}, nil
}

// print writes the placements to out, and what people should know beside them to notes.
func (o *placementOptions) print(out, notes io.Writer, namespace string, found placements) error {
	if o.output.ForPeople() {
		printNotes(notes, namespace, found)
	}
	return o.output.Print(out, found, func(w io.Writer) error {
		columns, rows := table(found.Items, namespace == metav1.NamespaceAll)
		return output.Rows(w, o.output.Wide(), columns, rows)
	})
}

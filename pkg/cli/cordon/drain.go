// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cordon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/clusters"
	"berth.dev/berth/pkg/cli/internal/live"
	"berth.dev/berth/pkg/cli/internal/values"
	"berth.dev/berth/pkg/explain/placement"
)

const drainLong = `Empty a cluster. It is cordoned first. Then the controllers move what policies, Applications and Subscriptions have
placed there to their other clusters, in the usual rounds: no more at a time than spec.rebalance allows, and only where
there is room. Pods that no policy moves, such as those of Jobs or of no policy at all, are evicted by this command.
PodDisruptionBudgets are kept. Pods of DaemonSets, and those of schedulers other than Berth's, stay.

The command tells what moves, and what keeps policies from moving their pods, and ends when the cluster is empty.
Interrupted, or when --timeout is over, it leaves the cluster as it is, and the controllers go on: berthctl cordon stops
them, berthctl uncordon brings everything back.

Exit status 1 says that the cluster is not empty, 2 that the command line names no cluster, or none that can exist.`

const drainExample = `  # Empty beijing, however long it takes
  berthctl drain cluster beijing

  # Give up after ten minutes, with exit status 1
  berthctl drain cluster beijing --timeout 10m`

// pause is the time between two looks at the cluster.
const pause = 2 * time.Second

// drain is one run of the command drain.
type drain struct {
	streams    genericiooptions.IOStreams
	factory    *client.Factory
	key        clusters.Key
	timeout    time.Duration
	force      bool
	schedulers *values.Names

	clients client.Clients
	cluster string
	// seen are the pods that were there when they were last looked at, asked those of them that the
	// command has tried to evict, told the last line that was printed about what is left.
	seen  map[types.UID]*corev1.Pod
	asked map[types.UID]bool
	told  string
	// held is what keeps policies from moving pods, as it was at the last look, explained what of that
	// was printed last. Both are by policy.
	held, explained map[string]string
}

// NewDrainCommand returns the command drain.
func NewDrainCommand(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	d := &drain{streams: streams, factory: factory, asked: map[types.UID]bool{}, explained: map[string]string{}}
	cmd := &cobra.Command{
		Use:               "drain [cluster] NAME",
		Short:             "Empty a cluster in preparation for maintenance",
		Long:              drainLong,
		Example:           drainExample,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: cobra.FixedCompletions([]string{word}, cobra.ShellCompDirectiveNoFileComp),
		RunE:              func(cmd *cobra.Command, args []string) error { return d.run(cmd.Context(), args) },
	}
	flags := cmd.Flags()
	d.key.AddFlags(flags)
	flags.DurationVar(&d.timeout, "timeout", 0, "how long to wait until the cluster is empty, 0 for ever")
	flags.BoolVar(&d.force, "force", false,
		"evict also pods that nothing would make anew, and those that are marked as not safe to evict")
	d.schedulers = values.AddSchedulersFlag(flags)
	return cmd
}

func (d *drain) run(ctx context.Context, args []string) error {
	if d.timeout < 0 {
		return errors.New("--timeout must not be negative")
	}
	clients, cluster, err := find(ctx, d.factory, &d.key, args)
	if err != nil {
		return err
	}
	d.clients, d.cluster = clients, cluster.Name
	if err := d.mark(ctx, cluster); err != nil {
		return err
	}
	if d.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d.timeout)
		defer cancel()
	}
	for {
		left, err := d.round(ctx)
		switch {
		case ctx.Err() != nil:
			return d.gaveUp(ctx)
		case err != nil:
			return err
		case left == 0:
			_, err := fmt.Fprintf(d.streams.Out, "cluster/%s drained\n", d.cluster)
			return err
		}
		select {
		case <-ctx.Done():
			return d.gaveUp(ctx)
		case <-time.After(pause):
		}
	}
}

func (d *drain) mark(ctx context.Context, cluster *berthv1alpha1.Cluster) error {
	m, became := mark{Unschedulable: new(true), Drain: new(true)}, "cordoned"
	if cluster.Spec.Unschedulable {
		became = "already cordoned"
	}
	if !m.isSet(cluster) {
		if err := m.set(ctx, d.clients, cluster); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(d.streams.Out, "cluster/%s %s\n", d.cluster, became)
	return err
}

// gaveUp is the error of a drain that ran out of time, or was interrupted.
func (d *drain) gaveUp(ctx context.Context) error {
	if d.timeout > 0 && errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return fmt.Errorf("drain did not complete within %s: %s", d.timeout, d.told)
	}
	return fmt.Errorf("drain was interrupted: %s", d.told)
}

// round looks once at what runs in the cluster, evicts what nobody else moves, and returns how many
// pods are left.
func (d *drain) round(ctx context.Context) (left int, err error) {
	objects, err := live.Read(ctx, d.clients, "")
	if err != nil {
		return 0, err
	}
	state := placement.NewState(objects, d.schedulers.Values())
	t := newTenants(state, d.cluster, d.force)
	for uid, pod := range d.seen {
		if t.pods[uid] == nil {
			if err := d.print("pod/%s left (namespace %s)", pod.Name, pod.Namespace); err != nil {
				return 0, err
			}
		}
	}
	d.seen = t.pods
	for _, pod := range t.evict {
		if err := d.evict(ctx, pod); err != nil {
			return 0, err
		}
	}
	if told := t.String(); len(t.pods) > 0 && told != d.told {
		d.told = told
		if err := d.print("%s", told); err != nil {
			return 0, err
		}
	}
	return len(t.pods), d.explain(t)
}

// explain prints what keeps policies from moving their pods, unless that may be over in a moment.
func (d *drain) explain(t *tenants) error {
	for _, name := range slices.Sorted(maps.Keys(t.held)) {
		why := t.held[name]
		if d.held[name] != why || d.explained[name] == why {
			continue
		}
		d.explained[name] = why
		if err := d.print("policy %s: %s", name, why); err != nil {
			return err
		}
	}
	d.held = t.held
	return nil
}

func (d *drain) print(format string, args ...any) error {
	_, err := fmt.Fprintf(d.streams.Out, format+"\n", args...)
	return err
}

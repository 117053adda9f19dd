// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/live"
	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/explain"
	"berth.dev/berth/pkg/explain/placement"
	"berth.dev/berth/pkg/explain/remedy"
	"berth.dev/berth/pkg/simulator"
)

// remedies are what would let a pod run, or why that cannot be told.
type remedies struct {
	*remedy.Answer

	// Error says why it cannot be told; the rest is empty then.
	Error string `json:"error,omitempty"`
}

// remedies tries what would let a pod run that waits for a scheduler of Berth; nil for others. It
// needs to read more than the rest of the answer, so what keeps it from that is told, and is no
// error of the command.
func (o *podOptions) remedies(ctx context.Context, objects *placement.Objects, pod *corev1.Pod, answer *explain.PodAnswer) *remedies {
	if !o.wantsRemedies || !answer.Waits() || !slices.Contains(o.profile.Schedulers(), pod.Spec.SchedulerName) {
		return nil
	}
	found, err := o.findRemedies(ctx, objects, pod, answer)
	if err != nil {
		return &remedies{Error: err.Error()}
	}
	return &remedies{Answer: found}
}

func (o *podOptions) findRemedies(
	ctx context.Context, objects *placement.Objects, pod *corev1.Pod, answer *explain.PodAnswer,
) (*remedy.Answer, error) {
	configuration, err := o.profile.Configuration()
	if err != nil {
		return nil, err
	}
	profile, err := o.profile.Choose(configuration, pod.Spec.SchedulerName)
	if err != nil {
		return nil, err
	}
	clients, err := o.factory.Clients()
	if err != nil {
		return nil, err
	}
	fit, err := live.ReadFit(ctx, clients)
	if err != nil {
		return nil, err
	}
	return remedy.Find(ctx, profile, worldOf(fit, objects, answer), pod)
}

// worldOf puts together what the scheduler decides by.
func worldOf(fit *live.Fit, objects *placement.Objects, answer *explain.PodAnswer) *remedy.World {
	w := &remedy.World{
		Kubernetes: slices.Clone(fit.Kubernetes), Shares: map[string]remedy.Share{},
		Berth: &simulator.Objects{Clusters: fit.Clusters, Resources: fit.Resources, Further: objects.Further},
	}
	for _, owner := range objects.Owners {
		w.Kubernetes = append(w.Kubernetes, owner)
	}
	w.Berth.Policies = pointers(objects.Policies)
	w.Berth.Subscriptions = pointers(objects.Subscriptions)
	if answer.Policy != nil {
		w.Policy = objects.Policy(answer.Namespace, answer.Policy.Name)
	}
	for i := range answer.Clusters {
		if c := &answer.Clusters[i]; c.Desired != nil {
			w.Shares[c.Name] = remedy.Share{Desired: *c.Desired, Current: c.Current}
		}
	}
	return w
}

func pointers[T berthv1alpha1.PropagationPolicy | berthv1alpha1.Subscription](items []T) []*T {
	all := make([]*T, len(items))
	for i := range items {
		all[i] = &items[i]
	}
	return all
}

var remedyColumns = []output.Column{{Name: "Cluster"}, {Name: "Node"}, {Name: "Change"}}

// print writes the remedies for people.
func (r *remedies) print(w io.Writer) error {
	switch {
	case r == nil:
		return nil
	case r.Error != "":
		fmt.Fprintf(w, "\nWhat would let it run cannot be worked out: %s\n", output.OneLine(r.Error))
		return nil
	case r.Node != "":
		fmt.Fprintf(w, "\nAs things are now, node %s in %s would take it: it runs at the next attempt of the scheduler.\n",
			r.Node, explain.InCluster(r.Cluster))
		return nil
	case len(r.Remedies) == 0:
		fmt.Fprintln(w, "\nNo change that was tried would let it run now.")
	default:
		fmt.Fprintln(w, "\nIt would run now if (one row, with all of its changes, is enough):")
		if err := output.Rows(w, false, remedyColumns, r.rows()); err != nil {
			return err
		}
	}
	for _, h := range r.Helpless {
		fmt.Fprintf(w, "Nothing that was tried helps in %s: %s\n", explain.InCluster(h.Cluster), output.OneLine(strings.Join(h.Reasons, "; ")))
	}
	if r.Untried > 0 {
		fmt.Fprintf(w, "Further clusters, farther from taking it, were not tried: %d\n", r.Untried)
	}
	return nil
}

func (r *remedies) rows() [][]any {
	var rows [][]any
	for _, found := range r.Remedies {
		cluster, node := found.Cluster, found.Node
		if cluster == "" {
			cluster = "<none>"
		}
		for i, change := range found.Changes {
			if i > 0 {
				cluster, node, change = "", "", "and "+change
			}
			rows = append(rows, []any{cluster, node, change})
		}
	}
	return rows
}

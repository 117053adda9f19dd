// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/cmd/playground/podwatch"
	"berth.dev/berth/pkg/localplane"
)

// shares maps clusters to numbers of replicas.
type shares map[string]int

func (s shares) String() string {
	parts := make([]string, 0, len(s))
	for _, cluster := range slices.Sorted(maps.Keys(s)) {
		parts = append(parts, fmt.Sprintf("%s %d", cluster, s[cluster]))
	}
	return strings.Join(parts, ", ")
}

// placement is where the pods of the workload are.
type placement struct {
	// desired is what the status of the policy says, running what the pods say.
	desired, running shares
	// perNode counts the running pods of each node.
	perNode map[string]int
	// waiting are the pods without a node, other the pods that start or end.
	waiting, other int
	pods           []corev1.Pod
}

// await polls until the check succeeds. It gives up after stepTimeout, or when a program of the
// playground ends.
func (d *demo) await(ctx context.Context, check func(context.Context) error) error {
	return localplane.Await(ctx, stepTimeout, d.exited, check)
}

// awaitShares waits until the policy wants and the pods have these shares, with nothing under way,
// and prints them.
func (d *demo) awaitShares(ctx context.Context, desired, running shares, waiting int) (*placement, error) {
	var now *placement
	err := d.await(ctx, func(ctx context.Context) error {
		seen, err := d.observe(ctx)
		if err != nil {
			return err
		}
		now = seen
		if !maps.Equal(now.running, running) || now.waiting != waiting || now.other > 0 {
			return fmt.Errorf("running: %s, want %s; waiting for a node: %d, want %d; starting or ending: %d",
				now.running, running, now.waiting, waiting, now.other)
		}
		if !maps.Equal(now.desired, desired) {
			return fmt.Errorf("the status of PropagationPolicy %s wants %s, must want %s", policyName, now.desired, desired)
		}
		return nil
	})
	if now != nil {
		d.print(now)
	}
	return now, err
}

// observe reads the pods and the status of the policy.
func (d *demo) observe(ctx context.Context) (*placement, error) {
	list, err := d.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, fmt.Errorf("listing pods: %w", err)
	}
	p := &placement{
		desired: shares{}, running: shares{beijing: 0, hangzhou: 0}, perNode: map[string]int{}, pods: list.Items,
	}
	for i := range list.Items {
		switch pod := &list.Items[i]; {
		case podwatch.IsReady(pod):
			p.running[d.clusterOf[pod.Spec.NodeName]]++
			p.perNode[pod.Spec.NodeName]++
		case pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil:
			p.waiting++
		default:
			p.other++
		}
	}
	policy, err := d.berth.BerthV1alpha1().PropagationPolicies(namespace).Get(ctx, policyName, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading PropagationPolicy %s: %w", policyName, err)
	}
	for i := range policy.Status.Workloads {
		for _, cluster := range policy.Status.Workloads[i].Clusters {
			p.desired[cluster.Name] += int(cluster.Desired)
		}
	}
	return p, nil
}

// print writes the placement as a table.
func (d *demo) print(p *placement) {
	// Nothing can be done about an output that fails.
	defer fmt.Fprintln(d.out)
	table := tabwriter.NewWriter(d.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\n   CLUSTER\tDESIRED\tRUNNING\tNODES")
	for _, cluster := range slices.Sorted(maps.Keys(p.running)) {
		fmt.Fprintf(table, "   %s\t%d\t%d\t%s\n", cluster, p.desired[cluster], p.running[cluster], d.nodesOf(p, cluster))
	}
	if p.waiting > 0 {
		fmt.Fprintf(table, "   (waiting)\t\t%d\t\n", p.waiting)
	}
	_ = table.Flush()
}

// nodesOf lists the nodes of the cluster with the number of pods on each.
func (d *demo) nodesOf(p *placement, cluster string) string {
	var parts []string
	for _, node := range slices.Sorted(maps.Keys(p.perNode)) {
		if d.clusterOf[node] == cluster {
			parts = append(parts, fmt.Sprintf("%s: %d", node, p.perNode[node]))
		}
	}
	return strings.Join(parts, ", ")
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package demo shows what Berth does in thirteen steps on real objects, and checks each of them.
package demo

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"berth.dev/berth/cmd/playground/world"
	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/localplane"
)

// NodesPerCluster is the number of nodes in each of the Clusters.
const NodesPerCluster = 3

// Clusters are the clusters that the steps speak of.
var Clusters = []string{beijing, hangzhou}

const (
	beijing  = "beijing"
	hangzhou = "hangzhou"

	namespace = "demo"
	workload  = "nginx"

	// stepTimeout bounds every wait of a step. What is waited for takes seconds.
	stepTimeout = 90 * time.Second
)

// step is a claim and the proof of it.
type step struct {
	title string
	// run makes the step happen, checks it, and says in one line what was seen.
	run func(context.Context) (string, error)
}

// demo is what the steps share.
type demo struct {
	client kubernetes.Interface
	berth  versioned.Interface
	out    io.Writer
	// clusterOf maps each node to its cluster.
	clusterOf map[string]string
	// exited delivers a program that ended by itself.
	exited <-chan error
	world  *world.World
	// third is the scheduler that is started by hand.
	third *localplane.Process
}

// Run shows all steps in the world, which must have the Clusters with NodesPerCluster nodes each.
// It writes tables and progress to out, and returns an error at the first step that does not come
// out as promised.
func Run(ctx context.Context, w *world.World, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	// Ends the watches of a step that failed.
	defer cancel()
	d := &demo{client: w.Client, berth: w.Berth, out: out, exited: w.Exited(), world: w}
	if err := d.prepare(ctx); err != nil {
		return err
	}
	steps := []step{
		{"a Deployment with 5 replicas, beijing to hangzhou as 2 to 3", d.share},
		{"scale to 10", d.grow},
		{"scale to 4, and back to 10", d.shrinkAndGrow},
		{"change the policy to 4 to 1, with a PodDisruptionBudget", d.rebalance},
		{"roll out a new image with maxSurge 1 and maxUnavailable 0", d.rollOut},
		{"cordon beijing and scale to 15", d.overflow},
		{"give out 3 licences to 5 pods", d.giveOut},
		{"end one of the pods that hold a licence", d.release},
		{"start a pod of high priority in the other cluster", d.preempt},
		{"divide a bundle of two workloads by free room", d.divideBundle},
		{"let three schedulers share twelve clusters", d.shareClusters},
		{"kill one of them while 120 pods become 240", d.killScheduler},
		{"take another one out of service", d.retireScheduler},
	}
	summary := make([]string, 0, len(steps))
	for i, s := range steps {
		fmt.Fprintf(out, "\n== Step %d of %d: %s\n", i+1, len(steps), s.title)
		began := time.Now()
		seen, err := s.run(ctx)
		if err != nil {
			return fmt.Errorf("step %d of %d (%s) is not as promised: %w\nrun it again with --keep to read the logs afterwards",
				i+1, len(steps), s.title, err)
		}
		took := time.Since(began).Seconds()
		fmt.Fprintf(out, "   ok after %.1fs: %s\n", took, seen)
		summary = append(summary, fmt.Sprintf("%d\t%.1fs\t%s", i+1, took, seen))
	}
	return printSummary(out, summary)
}

func printSummary(out io.Writer, lines []string) error {
	fmt.Fprint(out, "\n== What was seen\n\n")
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "STEP\tTIME\tSEEN")
	for _, line := range lines {
		fmt.Fprintln(table, line)
	}
	return table.Flush()
}

// printf tells what is done inside a step.
func (d *demo) printf(format string, args ...any) {
	fmt.Fprintf(d.out, "   "+format+"\n", args...)
}

// prepare makes the namespace and reads which node lies where.
func (d *demo) prepare(ctx context.Context) error {
	nodes, err := d.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing nodes: %w", err)
	}
	d.clusterOf = make(map[string]string, len(nodes.Items))
	for i := range nodes.Items {
		d.clusterOf[nodes.Items[i].Name] = nodes.Items[i].Labels[corev1.LabelTopologyRegion]
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if _, err := d.client.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating namespace %s: %w", namespace, err)
	}
	// Admission refuses pods until the namespace has its ServiceAccount.
	return d.await(ctx, func(ctx context.Context) error {
		_, err := d.client.CoreV1().ServiceAccounts(namespace).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}

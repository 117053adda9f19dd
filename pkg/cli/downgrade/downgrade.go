// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package downgrade holds the command that leaves pods as earlier versions of Berth know them.
package downgrade

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/model/stamp"
)

const (
	long = `Give placed pods the deletion costs that versions of Berth gave them before decision 0011: minus the seat, without the gaps
between two seats that there are now. Such a version takes the newer costs for those of a user and leaves them alone, so
that a workload which shrinks loses the wrong pods.

Run it just before such a version is installed again, and once more when it works. Costs that Berth has not given stay. The
present version knows both forms, so an upgrade needs nothing.`

	examples = `  # What would change?
  berthctl downgrade --dry-run

  # Change it
  berthctl downgrade`
)

// change is a pod and what became of its cost.
type change struct {
	Pod string `json:"pod"`
	Old string `json:"old"`
	New string `json:"new"`
}

type command struct {
	streams genericiooptions.IOStreams
	factory *client.Factory
	format  *output.Flag
	dryRun  bool
}

// NewCommand returns the command downgrade.
func NewCommand(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	c := &command{streams: streams, factory: factory, format: output.NewFlag(output.Text, output.JSON, output.YAML)}
	cmd := &cobra.Command{
		Use:               "downgrade",
		Short:             "Leave pods as earlier versions of Berth know them",
		Long:              long,
		Example:           examples,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return c.run(cmd.Context()) },
	}
	cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "list what would change, and change nothing")
	c.format.AddTo(cmd)
	return cmd
}

func (c *command) run(ctx context.Context) error {
	clients, err := c.factory.Clients()
	if err != nil {
		return err
	}
	pods, err := clients.Pods(ctx, func(pod *corev1.Pod) bool { _, differs := denseCost(pod); return differs })
	if err != nil {
		return err
	}
	changes := []change{}
	for i := range pods {
		cost, _ := denseCost(&pods[i])
		if !c.dryRun {
			if err = give(ctx, clients, &pods[i], cost); apierrors.IsNotFound(err) {
				err = nil
				continue
			}
			if err != nil {
				break
			}
		}
		old := pods[i].Annotations[corev1.PodDeletionCost]
		changes = append(changes, change{Pod: pods[i].Namespace + "/" + pods[i].Name, Old: old, New: cost})
	}
	// What was done is told whatever came then.
	if printErr := c.format.Print(c.streams.Out, changes, text(changes)); printErr != nil {
		return printErr
	}
	return err
}

// denseCost returns the cost that earlier versions would have given a pod, and whether it differs.
func denseCost(pod *corev1.Pod) (string, bool) {
	given, stamped := stamp.Of(pod)
	if !stamped {
		return "", false
	}
	return given.DenseCost(pod)
}

// give writes the cost of a pod.
func give(ctx context.Context, clients client.Clients, pod *corev1.Pod, cost string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": pod.UID, "annotations": map[string]string{corev1.PodDeletionCost: cost},
	}})
	if err != nil {
		return err
	}
	_, err = clients.Kubernetes.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	if err == nil || apierrors.IsNotFound(err) {
		return err
	}
	return client.DescribeError("changing pod "+pod.Namespace+"/"+pod.Name, err)
}

// text prints changes for people.
func text(changes []change) func(io.Writer) error {
	return func(w io.Writer) error {
		for _, c := range changes {
			if _, err := fmt.Fprintf(w, "Pod %s: deletion cost %s instead of %s\n", c.Pod, c.New, c.Old); err != nil {
				return err
			}
		}
		if len(changes) == 0 {
			_, err := fmt.Fprintln(w, "No pod has a deletion cost that earlier versions do not know")
			return err
		}
		return nil
	}
}

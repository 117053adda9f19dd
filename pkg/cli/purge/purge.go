// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package purge holds the command that takes away what Berth has left in a cluster.
package purge

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/everykind"
	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/model/stamp"
)

const (
	long = `Take away what Berth has left in a cluster: first its finalizers, then all objects of its kinds, then what it noted on
pods, with the deletion costs that it gave them. Each step is listed.

Pods run on, and so does everything that Applications and Subscriptions have made: it belongs to nobody then. Berth's
programs need not run any more, and better do not: take them away first, but not their definitions, which hold the objects.
A command that was interrupted can be repeated. What is noted on pods is guarded by an admission policy; if that is still
there, its binding is deleted.

The definitions themselves stay: kubectl delete -f manifests/crds.`

	examples = `  # What would be taken away?
  berthctl purge --dry-run

  # Take it away
  berthctl purge`

	// stampsBinding makes the API server refuse changes of what Berth notes on pods.
	stampsBinding = "berth-stamps"

	// The API server forgets a deleted binding within a second or two.
	retry   = 200 * time.Millisecond
	retries = time.Minute

	// Kubernetes lets go of a deleted object when its garbage collector has seen that nothing is to go
	// with it. It looks for new kinds every half minute.
	look     = time.Second
	patience = 2 * time.Minute
)

// action is one thing that was done.
type action struct {
	Object string `json:"object"`
	Done   string `json:"done"`
}

type command struct {
	streams genericiooptions.IOStreams
	factory *client.Factory
	format  *output.Flag
	dryRun  bool

	clients client.Clients
	actions []action
}

// NewCommand returns the command purge.
func NewCommand(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	c := &command{streams: streams, factory: factory, format: output.NewFlag(output.Text, output.JSON, output.YAML)}
	cmd := &cobra.Command{
		Use:               "purge",
		Short:             "Take away what Berth has left in a cluster",
		Long:              long,
		Example:           examples,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return c.run(cmd.Context()) },
	}
	cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "list what would be done, and do nothing")
	c.format.AddTo(cmd)
	return cmd
}

func (c *command) run(ctx context.Context) error {
	var err error
	if c.clients, err = c.factory.Clients(); err != nil {
		return err
	}
	c.actions = []action{}
	err = c.purge(ctx)
	// What was done is told whatever came then.
	write := func(w io.Writer) error { return c.write(w, err == nil) }
	if printErr := c.format.Print(c.streams.Out, c.actions, write); printErr != nil {
		return printErr
	}
	return err
}

// write lists what was done, or would be. Whole is set if all was looked at.
func (c *command) write(w io.Writer, whole bool) error {
	mark := ""
	if c.dryRun {
		mark = " (dry run)" // as kubectl has it
	}
	for _, a := range c.actions {
		if _, err := fmt.Fprintf(w, "%s: %s%s\n", a.Object, a.Done, mark); err != nil {
			return err
		}
	}
	if whole && len(c.actions) == 0 {
		_, err := fmt.Fprintln(w, "Berth has left nothing")
		return err
	}
	return nil
}

func (c *command) purge(ctx context.Context) error {
	objects, err := c.objects(ctx)
	if err != nil {
		return err
	}
	for i := range objects {
		if err := c.removeFinalizers(ctx, &objects[i]); err != nil {
			return err
		}
	}
	for i := range objects {
		if err := c.remove(ctx, &objects[i]); err != nil {
			return err
		}
	}
	if err := c.await(ctx, objects); err != nil {
		return err
	}
	pods, err := c.clients.Pods(ctx, func(pod *corev1.Pod) bool { return len(changesOf(pod)) > 0 })
	if err != nil || len(pods) == 0 {
		return err
	}
	if err := c.unguard(ctx); err != nil {
		return err
	}
	for i := range pods {
		if err := c.clean(ctx, &pods[i]); err != nil {
			return err
		}
	}
	return nil
}

// objects lists all of Berth's. Kinds that are not served have none.
func (c *command) objects(ctx context.Context) ([]object, error) {
	kinds := everykind.All(c.clients.Berth.BerthV1alpha1())
	var found []object
	for i := range kinds {
		read, err := kinds[i].List(ctx)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, client.DescribeError("listing objects of kind "+kinds[i].Name, err)
		}
		objects, err := objectsOf(&kinds[i], read)
		if err != nil {
			return nil, fmt.Errorf("listing objects of kind %s: %w", kinds[i].Name, err)
		}
		found = append(found, objects...)
	}
	return found, nil
}

// note records what has been done. Failures of something that is gone are none.
func (c *command) note(object, done string, err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return client.DescribeError(object, err)
	}
	c.actions = append(c.actions, action{Object: object, Done: done})
	return nil
}

// dropFinalizers removes Berth's finalizers from an object, if it has any.
func (c *command) dropFinalizers(ctx context.Context, o *object) error {
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{"finalizers": o.foreign()}})
	if err != nil {
		return err
	}
	return o.kind.Patch(ctx, o.namespace, o.name, data)
}

func (c *command) removeFinalizers(ctx context.Context, o *object) error {
	if len(o.foreign()) == len(o.finalizers) {
		return nil
	}
	var err error
	if !c.dryRun {
		err = c.dropFinalizers(ctx, o)
	}
	return c.note(o.String(), "finalizers removed", err)
}

func (c *command) remove(ctx context.Context, o *object) error {
	var err error
	if !c.dryRun {
		err = o.kind.Remove(ctx, o.namespace, o.name, metav1.DeleteOptions{PropagationPolicy: &o.kind.Dependents})
	}
	return c.note(o.String(), "deleted", err)
}

// changesOf returns which annotations and labels of a pod are Berth's, as a merge patch takes them
// away. The name of the policy is Berth's only where it is the one that has placed the pod.
func changesOf(pod *corev1.Pod) map[string]map[string]any {
	annotations := map[string]any{}
	for key := range pod.Annotations {
		if stamp.Written(key) {
			annotations[key] = nil
		}
	}
	if policy := pod.Annotations[berthv1alpha1.PlacedPolicyAnnotation]; policy != "" && pod.Annotations[berthv1alpha1.PolicyAnnotation] == policy {
		annotations[berthv1alpha1.PolicyAnnotation] = nil
	}
	changes := map[string]map[string]any{}
	if costs(pod) {
		annotations[corev1.PodDeletionCost] = nil
	}
	if len(annotations) > 0 {
		changes["annotations"] = annotations
	}
	labels := map[string]any{}
	for _, key := range []string{berthv1alpha1.HomeSchedulerLabel, berthv1alpha1.ClusterLabel} {
		if _, labelled := pod.Labels[key]; labelled {
			labels[key] = nil
		}
	}
	if len(labels) > 0 {
		changes["labels"] = labels
	}
	return changes
}

// costs reports whether the deletion cost of a pod is the one that Berth gave it.
func costs(pod *corev1.Pod) bool {
	given, stamped := stamp.Of(pod)
	return stamped && given.OwnsDeletionCost(pod)
}

// unguard lets others than Berth change what it notes on pods.
func (c *command) unguard(ctx context.Context) error {
	api := c.clients.Kubernetes.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	var err error
	if c.dryRun {
		_, err = api.Get(ctx, stampsBinding, metav1.GetOptions{})
	} else {
		err = api.Delete(ctx, stampsBinding, metav1.DeleteOptions{})
	}
	return c.note("ValidatingAdmissionPolicyBinding "+stampsBinding, "deleted", err)
}

// clean takes from a pod what Berth noted on it: the stamps, and the deletion cost, in one request,
// since nobody would know later that the cost was Berth's.
func (c *command) clean(ctx context.Context, pod *corev1.Pod) error {
	changes := changesOf(pod)
	name := "Pod " + pod.Namespace + "/" + pod.Name
	var err error
	if !c.dryRun {
		var data []byte
		if data, err = json.Marshal(map[string]any{"metadata": changes}); err == nil {
			err = c.patchPod(ctx, pod, data)
		}
	}
	before := len(c.actions)
	if err := c.note(name, "stamps removed", err); err != nil || len(c.actions) == before || !costs(pod) {
		return err
	}
	return c.note(name, "deletion cost removed", nil)
}

// patchPod waits until the API server has forgotten the policy that guards stamps.
func (c *command) patchPod(ctx context.Context, pod *corev1.Pod, data []byte) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, retry, retries, true, func(ctx context.Context) (bool, error) {
		_, last = c.clients.Kubernetes.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, data, metav1.PatchOptions{})
		return !apierrors.IsForbidden(last), nil
	})
	if last != nil {
		return last
	}
	return err
}

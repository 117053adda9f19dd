// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/live"
	"berth.dev/berth/pkg/cli/internal/profile"
	"berth.dev/berth/pkg/explain"
	"berth.dev/berth/pkg/explain/placement"
	"berth.dev/berth/pkg/model/charges"
)

const podLong = `Tell why a pod runs where it does, or why it waits: which policy is in force and how it came to be, which seat and
cluster the pod has, and what each cluster of the policy says to it. Of ClusterResources it tells what the pod asks for
or holds, and what is left in each pool. Of a pod that a Subscription holds back it tells what the Subscription waits for.

The answer is worked out from the live objects with the code that decides in the scheduler. What it cannot know, for
instance whether a node has enough cpu left, the scheduler tells in its own words.

Nodes are counted by what they say to this pod:

  USABLE     ready, and nothing known speaks against it
  NOT-READY  the node is not ready
  CORDONED   the node is marked unschedulable
  TAINTED    the node has a taint that the pod does not tolerate
  UNMATCHED  the node does not match the node selector or affinity of the pod

Of a pod that waits it tells what would have to change for it to run now: for each of the nearest clusters the least that does,
found by trying changes on the plugins of the scheduler. For that it reads nodes, pods and volumes of all namespaces, and
says so if you may not; --remedies=false leaves it out.

What is left in pools is read from the status of the ClusterResources, which berth-controller-manager keeps.

` + historyLong

const podExample = `  # Why does this pod wait?
  berthctl explain pod nginx-7c5ddbdf54-x2x9m

  # The seat of a pod, for a program
  berthctl explain pod nginx-7c5ddbdf54-x2x9m -o json | jq .placement.seat

  # What was decided about it, also if it is gone
  berthctl explain pod nginx-7c5ddbdf54-x2x9m --history`

// podOptions are the flags of explain pod.
type podOptions struct {
	question
	profile profile.Flags
	// wantsRemedies is set if it is to be told what would let the pod run.
	wantsRemedies bool
}

func newPod(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	o := &podOptions{question: newQuestion(streams, factory, corev1.GroupName, "Pod")}
	cmd := &cobra.Command{
		Use:               "pod NAME",
		Aliases:           []string{"pods", "po"},
		Short:             "Tell why a pod runs where it does, or waits",
		Long:              podLong,
		Example:           podExample,
		Args:              o.one("NAME"),
		ValidArgsFunction: factory.Complete(podNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args[0])
		},
	}
	cmd.Flags().BoolVar(&o.wantsRemedies, "remedies", true, "try what would have to change for a pod that waits to run now")
	o.profile.AddTo(cmd)
	o.past.AddTo(cmd.Flags())
	o.output.AddTo(cmd)
	return cmd
}

func (o *podOptions) run(ctx context.Context, name string) error {
	name, err := o.clean(name)
	if err != nil {
		return err
	}
	if err := o.past.Check(); err != nil {
		return err
	}
	namespace, objects, err := o.read(ctx)
	if err != nil {
		return err
	}
	told, err := o.tell(ctx, namespace, name)
	if err != nil {
		return err
	}
	pod := objects.Pod(namespace, name)
	switch {
	case pod == nil && told.empty():
		return o.notFound(namespace, name, told)
	case pod == nil:
		return o.output.Print(o.streams.Out, told, func(w io.Writer) error {
			field(w, "Pod", namespace+"/"+name)
			field(w, "State", "Gone")
			return told.print(w)
		})
	}
	state := placement.NewState(objects, o.profile.Schedulers())
	answer := explain.Pod(state, pod)
	if charges.Concerns(pod) {
		resources, err := o.readResources(ctx)
		if err != nil {
			return err
		}
		answer.AddResources(state, pod, resources)
	}
	would := o.remedies(ctx, objects, pod, answer)
	return o.output.Print(o.streams.Out, podAndPast{answer, would, told}, func(w io.Writer) error {
		if err := printPod(w, answer); err != nil {
			return err
		}
		if err := would.print(w); err != nil {
			return err
		}
		return told.print(w)
	})
}

// podAndPast is what programs get.
type podAndPast struct {
	*explain.PodAnswer

	// Remedies are what would let the pod run; absent if it does not wait.
	Remedies *remedies `json:"remedies,omitempty"`
	remembered
}

func (o *podOptions) read(ctx context.Context) (namespace string, objects *placement.Objects, err error) {
	if namespace, err = o.factory.Namespace(); err != nil {
		return "", nil, err
	}
	clients, err := o.factory.Clients()
	if err != nil {
		return "", nil, err
	}
	if objects, err = live.Read(ctx, clients, namespace); err != nil {
		return "", nil, err
	}
	err = live.ReadSubscriptions(ctx, clients, namespace, objects)
	return namespace, objects, err
}

func (o *podOptions) readResources(ctx context.Context) ([]berthv1alpha1.ClusterResource, error) {
	clients, err := o.factory.Clients()
	if err != nil {
		return nil, err
	}
	return live.ReadClusterResources(ctx, clients)
}

// podNames returns the names of the pods of a namespace.
func podNames(ctx context.Context, clients client.Clients, namespace string) ([]string, error) {
	objects, err := live.Read(ctx, clients, namespace)
	if err != nil {
		return nil, err
	}
	return client.NamesOf(objects.Pods), nil
}

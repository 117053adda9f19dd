// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package remedies tries on the live objects what would let a pod run that waits.
package remedies

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/live"
	"berth.dev/berth/pkg/cli/internal/profile"
	"berth.dev/berth/pkg/explain"
	"berth.dev/berth/pkg/explain/placement"
	"berth.dev/berth/pkg/explain/remedy"
	"berth.dev/berth/pkg/simulator"
)

// Find returns what would let a pod run. The objects are those of its namespace, and the answer is
// what they say of it; what else decides is read.
func Find(
	ctx context.Context, clients client.Clients, flags *profile.Flags, objects *placement.Objects, pod *corev1.Pod, answer *explain.PodAnswer,
) (*remedy.Answer, error) {
	configuration, err := flags.Configuration()
	if err != nil {
		return nil, err
	}
	chosen, err := flags.Choose(configuration, pod.Spec.SchedulerName)
	if err != nil {
		return nil, err
	}
	fit, err := live.ReadFit(ctx, clients)
	if err != nil {
		return nil, err
	}
	return remedy.Find(ctx, chosen, worldOf(fit, objects, answer), pod)
}

// Of is Find for who has the name of the pod alone.
func Of(ctx context.Context, clients client.Clients, flags *profile.Flags, namespace, name string) (*remedy.Answer, error) {
	objects, err := live.Read(ctx, clients, namespace)
	if err != nil {
		return nil, err
	}
	if err := live.ReadSubscriptions(ctx, clients, namespace, objects); err != nil {
		return nil, err
	}
	pod := objects.Pod(namespace, name)
	if pod == nil {
		return nil, fmt.Errorf("pod %s/%s is gone", namespace, name)
	}
	return Find(ctx, clients, flags, objects, pod, explain.Pod(placement.NewState(objects, flags.Schedulers()), pod))
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

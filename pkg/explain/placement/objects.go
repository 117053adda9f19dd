// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
)

// Objects are the objects of one namespace, or of all, with the nodes and Clusters. They are only
// read.
type Objects struct {
	workload.Objects
	Policies []berthv1alpha1.PropagationPolicy
	Clusters []berthv1alpha1.Cluster
	Nodes    []corev1.Node
	// Subscriptions are those of the namespace.
	Subscriptions []berthv1alpha1.Subscription
}

// Pod returns the named pod, nil if there is none.
func (o *Objects) Pod(namespace, name string) *corev1.Pod {
	i := slices.IndexFunc(o.Pods, func(p corev1.Pod) bool { return p.Namespace == namespace && p.Name == name })
	if i < 0 {
		return nil
	}
	return &o.Pods[i]
}

// Policy returns the named policy, nil if there is none.
func (o *Objects) Policy(namespace, name string) *berthv1alpha1.PropagationPolicy {
	i := slices.IndexFunc(o.Policies, func(p berthv1alpha1.PropagationPolicy) bool { return p.Namespace == namespace && p.Name == name })
	if i < 0 {
		return nil
	}
	return &o.Policies[i]
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/topology"
)

const (
	// holdAllocatable is how long the amounts of a Cluster stand still after a change, so that a node
	// that comes and goes moves nobody.
	holdAllocatable = 10 * time.Minute
	// maxResources bounds the resources in the status.
	maxResources = 32
)

// setAllocatable brings the amounts up to date if it is time, and returns after which time it will
// be, 0 if there is nothing to change. It is to be called before the observed generation is set.
func setAllocatable(object *berthv1alpha1.Cluster, c *topology.Cluster, now time.Time) time.Duration {
	status, sum := &object.Status, allocatable(c.Nodes)
	if apiequality.Semantic.DeepEqual(status.Allocatable, sum) || len(status.Allocatable)+len(sum) == 0 {
		return 0
	}
	settled := now.Sub(object.CreationTimestamp.Time) >= holdAllocatable && status.ObservedGeneration == object.Generation
	if changed := status.AllocatableTime; changed != nil && settled {
		if left := changed.Add(holdAllocatable).Sub(now); left > 0 {
			return left
		}
	}
	status.Allocatable, status.AllocatableTime = sum, &metav1.Time{Time: now}
	return 0
}

// allocatable sums up what nodes have of the resources, of too many the first by name.
func allocatable(nodes []*corev1.Node) corev1.ResourceList {
	sums := corev1.ResourceList{}
	for _, node := range nodes {
		for name, amount := range node.Status.Allocatable {
			sum := sums[name]
			sum.Add(amount)
			sums[name] = sum
		}
	}
	if names := slices.Sorted(maps.Keys(sums)); len(names) > maxResources {
		for _, name := range names[maxResources:] {
			delete(sums, name)
		}
	}
	return sums
}

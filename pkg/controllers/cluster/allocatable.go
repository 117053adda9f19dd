// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/capacity"
	"berth.dev/berth/pkg/model/topology"
)

// holdAmounts is how long the amounts of a Cluster, allocatable, pools and room, stand still after
// a change, so that a node that comes and goes moves nobody.
const holdAmounts = 10 * time.Minute

// setAllocatable brings the amounts up to date if it is time, and returns after which time it will
// be, 0 if there is nothing to change. It is to be called before the observed generation is set.
func setAllocatable(object *berthv1alpha1.Cluster, c *topology.Cluster, now time.Time) time.Duration {
	status, sum := &object.Status, capacity.Allocatable(c.Nodes)
	if apiequality.Semantic.DeepEqual(status.Allocatable, sum) || len(status.Allocatable)+len(sum) == 0 {
		return 0
	}
	if status.ObservedGeneration == object.Generation {
		if left := held(object, status.AllocatableTime, now); left > 0 {
			return left
		}
	}
	status.Allocatable, status.AllocatableTime = sum, &metav1.Time{Time: now}
	return 0
}

// held returns for how long amounts of a Cluster that changed at a time stand still. Those of a
// Cluster that is new do not.
func held(object *berthv1alpha1.Cluster, changed *metav1.Time, now time.Time) time.Duration {
	if changed == nil || now.Sub(object.CreationTimestamp.Time) < holdAmounts {
		return 0
	}
	return max(0, changed.Add(holdAmounts).Sub(now))
}

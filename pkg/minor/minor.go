// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package minor holds what differs between the minors of Kubernetes that Berth is compiled with.
// One is chosen by build tags: without any, that of go.mod; with kubernetes_1_36 or
// kubernetes_1_37, that of build/kubernetes-1.36 or build/kubernetes-1.37. Gangs are the exception:
// the plugins that serve them are registered by package plugins, where there are any.
package minor

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Oldest is the oldest minor that Berth can be compiled with, and is released for.
const Oldest = 35

// Newest is the newest minor that Berth can be compiled with, and is released for.
const Newest = 37

// NewestWithGangs is the newest one for which there is Coscheduling: scheduler-plugins stops there.
const NewestWithGangs = 35

// Registration is that of a handler of events which has seen everything as soon as it is added. It
// is for types to embed.
type Registration struct{}

// HasSynced is true.
func (Registration) HasSynced() bool { return true }

// Schedule chooses a node for a pod, as the scheduler does in a cycle.
func Schedule(
	ctx context.Context, s *scheduler.Scheduler, profile framework.Framework, state fwk.CycleState, pod *corev1.Pod,
) (scheduler.ScheduleResult, error) {
	return schedule(ctx, s, profile, state, pod)
}

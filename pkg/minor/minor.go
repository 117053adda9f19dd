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
	"k8s.io/klog/v2"
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

// Doorman decides about pods that come out of the scheduler's queue.
type Doorman struct {
	// Refuses reports whether a pod has to go through PreEnqueue again.
	Refuses func(*corev1.Pod) bool
	// Now returns a pod as it is by now, nil if it waits no more.
	Now func(*corev1.Pod) *corev1.Pod
}

// readmit has a pod that has come out of the queue go through PreEnqueue again. What changes it at
// the same time is not lost: the queue hears of that before or after it has the pod again, and if
// it has got an older one then, it gets the newer one here.
func (d *Doorman) readmit(logger klog.Logger, s *scheduler.Scheduler, pod *corev1.Pod) {
	s.SchedulingQueue.Done(pod.UID)
	now := d.Now(pod)
	if now == nil {
		return
	}
	enqueue(logger, s, now)
	if newer := d.Now(now); newer != nil && newer != now {
		update(logger, s, now, newer)
	}
}

// Schedule chooses a node for a pod, as the scheduler does in a cycle.
func Schedule(
	ctx context.Context, s *scheduler.Scheduler, profile framework.Framework, state fwk.CycleState, pod *corev1.Pod,
) (scheduler.ScheduleResult, error) {
	return schedule(ctx, s, profile, state, pod)
}

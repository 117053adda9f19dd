// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !kubernetes_1_36 && !kubernetes_1_37

package minor

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Minor is the number of the minor.
const Minor = 35

// SharedLister has what plugins ask a snapshot for beside nodes and volumes, which is nothing. It
// is for types to embed.
type SharedLister struct{}

// NewInformerFactory returns the informers that a scheduler needs.
func NewInformerFactory(client kubernetes.Interface) informers.SharedInformerFactory {
	return scheduler.NewInformerFactory(client, 0)
}

func schedule(
	ctx context.Context, s *scheduler.Scheduler, profile framework.Framework, state fwk.CycleState, pod *corev1.Pod,
) (scheduler.ScheduleResult, error) {
	return s.SchedulePod(ctx, profile, state, pod)
}

// FinishBinding tells the scheduler's cache that an assumed pod has been bound.
func FinishBinding(logger klog.Logger, s *scheduler.Scheduler, pod *corev1.Pod) error {
	return s.Cache.FinishBinding(logger, pod)
}

// RemovePendingAllocation has an allocation for a claim of devices count no more that has not been
// written, and reports whether there was one.
func RemovePendingAllocation(claims fwk.ResourceClaimTracker, claim types.UID) bool {
	return claims.RemoveClaimPendingAllocation(claim)
}

func enqueue(logger klog.Logger, s *scheduler.Scheduler, pod *corev1.Pod) {
	s.SchedulingQueue.Add(logger, pod)
}

func update(logger klog.Logger, s *scheduler.Scheduler, before, after *corev1.Pod) {
	s.SchedulingQueue.Update(logger, before, after)
}

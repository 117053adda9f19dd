// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build kubernetes_1_36

package minor

import (
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Minor is the number of the minor.
const Minor = 36

// SharedLister has what plugins ask a snapshot for beside nodes and volumes: no groups of pods. It
// is for types to embed.
type SharedLister struct{ groups }

// NewInformerFactory returns the informers that a scheduler needs.
func NewInformerFactory(client kubernetes.Interface) informers.SharedInformerFactory {
	return scheduler.NewInformerFactory(client, 0)
}

// Pop takes the next pod out of the scheduler's queue.
func Pop(logger klog.Logger, s *scheduler.Scheduler) (*framework.QueuedPodInfo, error) {
	return s.SchedulingQueue.Pop(logger)
}

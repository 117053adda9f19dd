// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !kubernetes_1_37

package minor

import (
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Guard puts a doorman at the exit of the scheduler's queue. It must be called before the scheduler
// runs.
func (d *Doorman) Guard(s *scheduler.Scheduler) {
	next := s.NextPod
	s.NextPod = func(logger klog.Logger) (*framework.QueuedPodInfo, error) {
		for {
			info, err := next(logger)
			if err != nil || info == nil || !d.Refuses(info.Pod) {
				return info, err
			}
			d.readmit(logger, s, info.Pod)
		}
	}
}

// Pop takes the next pod out of the scheduler's queue.
func Pop(logger klog.Logger, s *scheduler.Scheduler) (*framework.QueuedPodInfo, error) {
	return s.NextPod(logger)
}

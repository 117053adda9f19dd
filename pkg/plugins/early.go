// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/kubernetes/pkg/scheduler"

	"berth.dev/berth/pkg/minor"
)

// askLater lets pods into the scheduler's queue while that is being filled with what there is when
// the process starts. If they have to be held back that happens when they come out.
func (s *State) askLater(sched *scheduler.Scheduler) {
	// That there is no time to wait lets it look once.
	noTime, cancel := context.WithCancel(context.Background())
	cancel()
	s.early.Fill(func() bool { return sched.WaitForHandlersSync(noTime) == nil })
	doorman := &minor.Doorman{
		Refuses: func(pod *corev1.Pod) bool { return s.early.Take(pod.UID) && s.refuses(sched, pod) },
		Now: func(pod *corev1.Pod) *corev1.Pod {
			base := s.known()
			if !base.waits(pod) {
				return nil
			}
			return base.owners.Pod(pod.Namespace, pod.Name)
		},
	}
	doorman.Guard(sched)
}

// refuses reports whether a pod that was let in has to be held back, once all pods have been seen.
func (s *State) refuses(sched *scheduler.Scheduler, pod *corev1.Pod) bool {
	ctx := wait.ContextForChannel(sched.StopEverything)
	return sched.WaitForHandlersSync(ctx) == nil && s.held(ctx, pod)
}

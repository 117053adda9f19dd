// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/pkg/history"
)

// Nominations returns how many nominations of pods are remembered.
func (s *State) Nominations() int {
	s.victims.mu.Lock()
	defer s.victims.mu.Unlock()
	return len(s.victims.nominated)
}

// Failed returns what makes the entry of a failed attempt, and what completes it if it is no
// repetition.
func (s *State) Failed(pod *corev1.Pod, status *fwk.Status) (entry func() history.Entry, complete func(*history.Entry)) {
	return s.attempt(pod, status, "")
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package homescheduler

import (
	corev1 "k8s.io/api/core/v1"
)

// OnWay is told how the Binding of a pod is abandoned that is about to be sent. It is safe for
// concurrent use, and may be called of nil.
func (s *Shared) OnWay(pod *corev1.Pod, abandon func()) {
	if !s.Fenced() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if to, found := s.underWay[pod.UID]; found {
		to.abandon = abandon
		s.underWay[pod.UID] = to
	}
}

// abandonLost abandons the Bindings that are under way to clusters which another Scheduler has. As
// long as this one was alone it placed pods on clusters that nobody had, and nobody asks it to give
// those up. A client sends a Binding again seconds later that was answered with 429.
func (s *Shared) abandonLost(b *Background) {
	s.mu.Lock()
	defer s.mu.Unlock()
	homes := s.Catalog.Snapshot()
	for _, to := range s.underWay {
		home := homes.Clusters[s.now(to, b)].Scheduler
		if to.abandon != nil && home != "" && home != s.Self {
			to.abandon()
		}
	}
}

// now returns the cluster of the node to which a pod is on its way, as long as there is that node.
func (s *Shared) now(to way, b *Background) string {
	if node := b.Node(to.node); node != nil {
		return s.clusterOf(node)
	}
	return to.cluster
}

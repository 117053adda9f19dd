// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/fence"
	"berth.dev/berth/pkg/plugins/internal/settle"
	"berth.dev/berth/pkg/plugins/internal/takeover"
)

// takeOver finds out, once this process is the leader, what the process before has given to pods,
// and rules out that this gives more, until the context ends.
func (s *State) takeOver(ctx context.Context, base *base, readers []takeover.ListReader) {
	pods := base.owners.Pod
	s.late.Known = func(pod *corev1.Pod) bool {
		known := pods(pod.Namespace, pod.Name)
		return known != nil && known.UID == pod.UID && known.Spec.NodeName != ""
	}
	mirror := &takeover.Mirror{
		Client: base.handle.ClientSet(), Clock: s.Clock, Pod: pods, All: base.owners.All,
		Pending: func() []*corev1.Pod { return base.owners.Pending("") },
	}
	s.seed.Run(ctx, s.Clock, &takeover.Source{
		Client: mirror.Client, Leader: s.fence.Opened(), Elsewhere: s.elsewhere, NothingLate: s.nothingLate, Since: s.since, Mirror: mirror,
	}, readers, func() { s.wake(base.owners.Pending("")) })
	s.late.Run(ctx, &takeover.Background{
		Client: base.handle.ClientSet(), Clock: s.Clock, Pod: pods, Wake: s.wake, Settled: func() { s.fence.Settle(fence.Seats) },
	})
}

// lateBindings returns how many Bindings of pods that were given something may still arrive of the
// processes that led before, 0 if that is not known. A Scheduler among several has more to reckon
// with than the processes that held its lease.
func (s *State) lateBindings() int {
	if s.oneOfSeveral() || s.fence.Late() == fence.LateOfMany {
		return 0
	}
	return settle.MaxUnderWay
}

// nothingLate reports whether no Binding at all may still arrive of the processes that led before.
func (s *State) nothingLate() bool {
	return !s.oneOfSeveral() && s.fence.Late() == fence.LateNothing
}

// elsewhere reports whether a pod is another scheduler's. While there is no other, a process places
// all pods, whatever home they had once.
func (s *State) elsewhere(pod *corev1.Pod) bool {
	s.mu.Lock()
	h := s.homes
	s.mu.Unlock()
	home := pod.Labels[berthv1alpha1.HomeSchedulerLabel]
	if h.shared == nil || h.name == "" || home == "" || home == h.name {
		return false
	}
	homes := h.shared.Catalog.Snapshot()
	return homes != nil && homes.Shared
}

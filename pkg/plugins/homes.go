// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/demand"
	"berth.dev/berth/pkg/placement/rank"
	"berth.dev/berth/pkg/plugins/homescheduler"
	"berth.dev/berth/pkg/plugins/internal/catalog"
	"berth.dev/berth/pkg/plugins/nodegrouppolicy"
)

// homes is what this process is among several schedulers.
type homes struct {
	// name is that of its Scheduler, empty for none, and lease the lease with which it registers.
	name  string
	lease berthv1alpha1.LeaseReference
	// shared is nil if no profile has the plugin.
	shared *homescheduler.Shared
}

// failing returns the pod that found no node last, nil if that is not known.
func (h *homes) failing() *corev1.Pod {
	if h.shared == nil {
		return nil
	}
	return h.shared.Failing.Load()
}

// ShareAs makes this process one of several schedulers. It registers with the lease that it holds;
// without one it waits until somebody else makes its Scheduler. It must be called before Run, and
// with the name before the plugins are made.
func (s *State) ShareAs(name string, lease berthv1alpha1.LeaseReference) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.homes.name, s.homes.lease = name, lease
}

// oneOfSeveral reports whether this process is one of several Schedulers. Others than those that
// had its lease may bind its pods, too.
func (s *State) oneOfSeveral() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.homes.name != ""
}

func (s *State) newHomeScheduler(_ context.Context, _ runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	shared, err := s.homeScheduler(handle)
	if err != nil {
		return nil, fmt.Errorf("preparing plugin %s: %w", homescheduler.Name, err)
	}
	return homescheduler.New(handle, shared), nil
}

// homeScheduler is nodeGroups for HomeScheduler.
func (s *State) homeScheduler(handle fwk.Handle) (*homescheduler.Shared, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.homes.shared != nil {
		return s.homes.shared, nil
	}
	base, err := s.prepare(handle)
	if err != nil {
		return nil, err
	}
	shared := homescheduler.NewShared(s.homes.name, s.Clock)
	shared.Membership, shared.View, shared.Late, shared.Early = s.membership, base.view, s.late, s.early
	shared.Alone, shared.Retries = s.alone, s.retries
	shared.Catalog, err = s.sources.schedulers(defaultPatience, s.wakeForHomes)
	if err != nil {
		return nil, err
	}
	// Its informer is started with the others.
	handle.SharedInformerFactory().Core().V1().Nodes().Lister()
	s.homes.shared = shared
	return shared, nil
}

// alone reports whether no plugin but HomeScheduler has a say in where a pod goes. It is asked
// inside scheduling cycles.
func (s *State) alone(pod *corev1.Pod) bool {
	if demand.Asks(pod) || rank.HasWish(pod.Annotations) {
		return false
	}
	snapshot, wanted := s.defined()
	return !wanted || snapshot != nil && nodegrouppolicy.Policyless(snapshot, pod)
}

// wakeForHomes wakes the pods that a change of Schedulers or bindings may concern.
func (s *State) wakeForHomes(before, after *catalog.Homes) {
	waiting := s.base.owners.Pending("")
	if before != nil && after != nil {
		if before.Shared == after.Shared && before.Sharing == after.Sharing && before.Living == after.Living &&
			before.Registered == after.Registered && maps.Equal(before.Clusters, after.Clusters) {
			return
		}
		waiting = s.homes.shared.Mine(after, waiting)
	}
	s.wake(waiting)
}

// runHomes runs what HomeScheduler needs until the context ends.
func (s *State) runHomes(ctx context.Context, base *base) {
	s.mu.Lock()
	h := s.homes
	s.mu.Unlock()
	if h.shared == nil {
		return
	}
	nodes := base.handle.SharedInformerFactory().Core().V1().Nodes().Lister()
	h.shared.Run(ctx, &homescheduler.Background{
		Client: base.handle.ClientSet(), Berth: s.client, Fence: s.fence, Lease: h.lease,
		Node: func(name string) *corev1.Node {
			node, err := nodes.Get(name)
			if err != nil {
				return nil
			}
			return node
		},
		Waiting: func() []*corev1.Pod { return base.owners.Pending("") }, Wake: s.wake,
		Tell: func(regarding *corev1.ObjectReference, reason, note string) {
			base.handle.EventRecorder().Eventf(regarding, nil, corev1.EventTypeNormal, reason, "Sharing", "%s", note)
		},
	})
}

// Fenced reports whether the lease is kept until the Binding of every pod has ended.
func (s *State) Fenced() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.homes.shared.Fenced()
}

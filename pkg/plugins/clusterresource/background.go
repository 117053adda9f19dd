// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"

	"berth.dev/berth/pkg/plugins/clusterresource/internal/spending"
	"berth.dev/berth/pkg/plugins/internal/catalog"
	"berth.dev/berth/pkg/plugins/internal/ledger"
)

const (
	// lookInterval is how often it is looked whether something was missed.
	lookInterval = time.Second

	// settleTimeout bounds one live read of a pod.
	settleTimeout = 5 * time.Second
)

// Sharing is what a process that is one of several schedulers needs to keep to its grants.
type Sharing = spending.Sharing

// Background is what the plugin needs outside scheduling cycles.
type Background struct {
	// Client reads pods from the API server.
	Client kubernetes.Interface
	// Leader is closed once this process has become the leader.
	Leader <-chan struct{}
	// Pod returns a pod that the informer knows, nil if it does not.
	Pod func(namespace, name string) *corev1.Pod
	// Waiting returns the pods that ask for ClusterResources and have no node, as the informer
	// knows them.
	Waiting func() []*corev1.Pod
	// Wake lets pods be tried.
	Wake func([]*corev1.Pod)
	// Sharing is nil for a process that is no Scheduler.
	Sharing *Sharing
}

// Run keeps the account right until the context ends: it reads what other processes bound, settles
// what is unclear, and wakes pods that a release should have woken.
func (s *Shared) Run(ctx context.Context, b *Background) {
	go s.Catalog.Run(ctx)
	if b.Sharing != nil {
		spender := &spending.Spender{
			Sharing: b.Sharing, Clock: s.Clock, Grants: s.Grants, Resources: s.Catalog.Snapshot, Pending: s.Pending,
			Demand: s.Waiting, Waiting: b.Waiting, Wake: b.Wake,
		}
		go spender.Run(ctx)
	} else {
		s.Grants.Lift()
	}
	go s.Seed.Run(ctx, s.Clock, b.Leader, b.Client, s.Pending, func(pod *corev1.Pod) bool {
		known := b.Pod(pod.Namespace, pod.Name)
		return known != nil && known.UID == pod.UID && known.Spec.NodeName != ""
	}, func() {
		s.restoreEarmarks(b.Waiting())
		b.Wake(b.Waiting())
	})
	tick := s.Clock.NewTicker(lookInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C():
			s.settle(ctx, b)
			if due := s.Waiting.Due(); len(due) > 0 {
				b.Wake(due)
			}
			if s.Grants.Allowance().Limited {
				b.Wake(s.Waiting.Probes())
			}
		}
	}
}

func (s *Shared) restoreEarmarks(waiting []*corev1.Pod) {
	for _, pod := range waiting {
		if pod.Status.NominatedNodeName != "" && !s.Earmarks.Has(pod.UID) {
			s.Earmarks.Restore(pod)
		}
	}
}

// Open lets everything be given out at once, in a process that has no predecessor and shares with
// nobody.
func (s *Shared) Open() {
	s.Seed.Skip()
	s.Grants.Lift()
}

// settle finds out by live reads which pods with an unclear outcome were bound.
func (s *Shared) settle(ctx context.Context, b *Background) {
	for _, ref := range s.Pending.AllUnclear() {
		bound, err := isBound(ctx, b.Client, ref)
		if err != nil {
			continue // it stays charged and is read again
		}
		pod := b.Pod(ref.Namespace, ref.Name)
		if bound && (pod == nil || pod.UID != ref.UID) {
			continue // What is clear counts as gone while the informer does not know it, and the informer may be behind.
		}
		charges, _ := s.Pending.Get(ref.UID)
		s.Pending.Settle(ref.UID, bound)
		if bound {
			continue
		}
		s.Waiting.Released(charges)
		if pod != nil {
			b.Wake([]*corev1.Pod{pod})
		}
	}
}

// isBound is PodRef.Bound with a time of its own.
func isBound(ctx context.Context, client kubernetes.Interface, ref ledger.PodRef) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	return ref.Bound(ctx, client)
}

// Changed returns the pods that a change of ClusterResources concerns, of all that ask for some.
func (s *Shared) Changed(before, after *catalog.Resources, asking []*corev1.Pod) []*corev1.Pod {
	if before == nil || after == nil {
		return asking
	}
	changed := func(resource string) bool { return !catalog.SamePools(before.Get(resource), after.Get(resource)) }
	s.Waiting.Forget(changed)
	var concerned []*corev1.Pod
	for _, pod := range asking {
		if asksForAny(pod, changed) {
			concerned = append(concerned, pod)
		}
	}
	return concerned
}

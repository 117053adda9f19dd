// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"

	"berth.dev/berth/pkg/model/demand"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/plugins/clusterresource/internal/spending"
	"berth.dev/berth/pkg/plugins/internal/catalog"
	"berth.dev/berth/pkg/plugins/internal/ledger"
)

const (
	// lookInterval is how often it is looked whether something was missed.
	lookInterval = time.Second

	// readTimeout bounds one live read of a pod.
	readTimeout = 5 * time.Second
)

// Sharing is what a process that is one of several schedulers needs to keep to its grants.
type Sharing = spending.Sharing

// Background is what the plugin needs outside scheduling cycles.
type Background struct {
	// Client reads pods from the API server.
	Client kubernetes.Interface
	// Pod returns a pod that the informer knows, nil if it does not.
	Pod func(namespace, name string) *corev1.Pod
	// Waiting returns the pods that ask for ClusterResources and have no node, as the informer
	// knows them.
	Waiting func() []*corev1.Pod
	// Wake lets pods be tried.
	Wake func([]*corev1.Pod)
	// Held reports whether a plugin would keep a pod out of the queue if it were woken.
	Held func(*corev1.Pod) bool
	// Sharing is nil for a process that is no Scheduler.
	Sharing *Sharing
	// LateBindings returns how many Bindings of processes before may still arrive, 0 if that is not
	// known; Settled is told, time and again, once none can.
	LateBindings func() int
	Settled      func()
}

// Run keeps the account right until the context ends: it reads what other processes bound, and
// wakes pods that wait for what has become free.
func (s *Shared) Run(ctx context.Context, b *Background) {
	go s.Catalog.Run(ctx)
	go s.Waiting.Run(ctx, s.Clock, b.Wake, b.Held)
	if b.Sharing != nil {
		spender := &spending.Spender{
			Sharing: b.Sharing, Clock: s.Clock, Grants: s.Grants, Resources: s.Catalog.Snapshot, Pending: s.Pending,
			Late: s.Late, Ahead: s.Ahead, Demand: s.Waiting, Waiting: b.Waiting, Wake: b.Wake,
		}
		go s.spend(ctx, spender)
	} else {
		s.Grants.Lift()
	}
	go s.settleLate(ctx, b)
	tick := s.Clock.NewTicker(lookInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C():
			s.confirmUnseen(ctx, b)
			s.Earmarks.DropHeld(b.Held)
			if s.Grants.Allowance().Limited {
				b.Wake(s.Waiting.Probes(b.Held))
			}
		}
	}
}

// spend keeps to the grants once it is known what the process before has charged. It could not tell
// before what its own pods hold.
func (s *Shared) spend(ctx context.Context, spender *spending.Spender) {
	select {
	case <-ctx.Done():
	case <-s.Seed.Listed():
		spender.Run(ctx)
	}
}

// Reader returns who takes over what the pods hold that other processes have bound.
func (s *Shared) Reader(b *Background) *spending.Reader {
	return &spending.Reader{
		Pending: s.Pending, Late: s.Late, Known: func(pod *corev1.Pod) bool { return b.knows(ledger.Ref(pod)) },
		Bound: b.LateBindings, Ended: func() { s.restoreEarmarks(b.Waiting()) },
	}
}

func (s *Shared) restoreEarmarks(waiting []*corev1.Pod) {
	for _, pod := range waiting {
		if node := pod.Status.NominatedNodeName; node != "" {
			s.Earmarks.Nominate(pod, node)
		}
	}
}

// Open lets everything be given out at once, in a process that has no predecessor and shares with
// nobody.
func (s *Shared) Open() {
	s.Seed.Skip()
	s.Grants.Lift()
}

// ActAs lets a process that Open was called of give out only what the Scheduler of the name was
// granted; an empty name lifts that. It must not be called within a scheduling cycle.
func (s *Shared) ActAs(scheduler string) {
	s.Grants.ActAs(scheduler, s.Catalog.Snapshot())
	s.Ledger.Self = scheduler
}

// confirmUnseen takes the pods that a leader before has bound for ordinary ones once the informer
// knows them as bound, and gives back what those hold that the informer will never know as bound,
// because they have ended meanwhile.
func (s *Shared) confirmUnseen(ctx context.Context, b *Background) {
	for _, ref := range s.Pending.AllUnseen() {
		if b.knows(ref) {
			s.Pending.Seen(ref.UID)
			continue
		}
		if bound, err := isBound(ctx, b.Client, ref); err != nil || bound {
			continue // it stays charged and is read again
		}
		charges, _ := s.Pending.Get(ref.UID)
		s.Pending.Drop(ref.UID)
		s.Waiting.Released(ref.UID, charges)
	}
}

// knows reports whether the informer knows a pod as bound.
func (b *Background) knows(ref ledger.PodRef) bool {
	pod := b.Pod(ref.Namespace, ref.Name)
	return pod != nil && pod.UID == ref.UID && pod.Spec.NodeName != ""
}

// isBound is PodRef.Bound with a time of its own.
func isBound(ctx context.Context, client kubernetes.Interface, ref ledger.PodRef) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	return ref.Bound(ctx, client)
}

// Edited notes that a pod without a node may ask for something else than before.
func (s *Shared) Edited(before, after *corev1.Pod) {
	if asksDifferently(before, after) {
		s.Earmarks.Drop(after.UID)
		s.Waiting.Drop(after.UID)
	}
}

// settles is how long the scheduler may take to know that a pod is gone, which it learns at the
// same time.
const settles = 100 * time.Millisecond

// Gone notes that a pod is gone. The scheduler asks the hints of the plugin about it only if it
// knows of a pod that waits for want of a ClusterResource; so they are not relied upon.
func (s *Shared) Gone(pod *corev1.Pod) {
	charges, _ := stamp.ChargesOf(pod)
	if pod.Spec.NodeName == "" || charges == nil && !demand.Asks(pod) {
		return
	}
	s.Clock.AfterFunc(settles, func() { s.Waiting.Gone(pod, charges) })
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

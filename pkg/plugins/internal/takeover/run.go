// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/plugins/internal/ledger"
	"berth.dev/berth/pkg/plugins/internal/settle"
)

const (
	// interval is how often it is looked whether something was missed, and wakes how often a pod is
	// woken that was turned away: once while it is on its way back to the queue may be in vain.
	interval, wakes = time.Second, 3
	// freshPasses is after how many of them the scheduler certainly knows what the informer does.
	freshPasses = 10
	// readTimeout bounds one live read of a pod.
	readTimeout = 5 * time.Second
)

// Background is what Late needs outside scheduling cycles.
type Background struct {
	// Client reads pods and writes their status.
	Client kubernetes.Interface
	// Clock is the time that Late goes by.
	Clock clock.Clock
	// Pod returns a pod that the informer knows, nil if it does not.
	Pod func(namespace, name string) *corev1.Pod
	// Wake lets pods be tried.
	Wake func([]*corev1.Pod)
	// Settled is told, time and again, once no late Binding can happen to any pod.
	Settled func()
}

// Run settles the pods that others wait for, and wakes these, until nothing is left or the context
// ends.
func (l *LateSeats) Run(ctx context.Context, b *Background) {
	settler := &settle.Settler{Client: b.Client, Known: b.Pod}
	for pass := 0; l.Pending.Load(); pass++ {
		if pass > freshPasses {
			l.forgetFresh()
		}
		claimants, missing := l.wanted()
		workqueue.ParallelizeUntil(ctx, settle.Workers, len(claimants), func(i int) {
			o := &claimants[i]
			if pod, certain := settler.Try(ctx, o.PodRef, o.version); certain {
				l.settled(o.UID, pod)
			}
		})
		workqueue.ParallelizeUntil(ctx, settle.Workers, len(missing), func(i int) {
			if b.gone(ctx, missing[i].PodRef) {
				l.Gone(missing[i].UID)
			}
		})
		if free := l.free(func(ref ledger.PodRef) bool { return b.known(ref) != nil }); len(free) > 0 {
			b.Wake(free)
		}
		if l.noClaimants() {
			b.Settled()
		}
		select {
		case <-ctx.Done():
			return
		case <-l.due:
		case <-b.Clock.After(interval):
		}
	}
	b.Settled()
}

// noClaimants reports whether no late Binding can happen to any pod.
func (l *LateSeats) noClaimants() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.listed && l.noClaimantsLocked()
}

func (l *LateSeats) noClaimantsLocked() bool {
	for _, o := range l.open {
		if o.node == "" {
			return false
		}
	}
	return true
}

// forgetFresh takes the pods for counted that the informer has long known as bound.
func (l *LateSeats) forgetFresh() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.listed {
		l.fresh = nil
		l.finishLocked()
	}
}

// wanted returns the pods that are to be settled, and those that have been bound and that the
// scheduler may not know of.
func (l *LateSeats) wanted() (claimants, missing []openPod) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.listed {
		return nil, nil
	}
	for _, of := range l.workloads {
		for _, o := range of.open {
			switch {
			case o.node != "":
				missing = append(missing, *o)
			case of.wanted || l.all:
				claimants = append(claimants, *o)
			}
		}
	}
	return claimants, missing
}

// settled notes what a pod was found to be when no late Binding could happen to it any more.
func (l *LateSeats) settled(uid types.UID, pod *corev1.Pod) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.open[uid]
	switch {
	case o == nil:
	case pod != nil && pod.UID == uid && pod.Spec.NodeName != "" && workload.Lives(pod):
		o.node = pod.Spec.NodeName
	default:
		l.closeLocked(o)
	}
}

// free returns the pods that can be tried again: none of their siblings may be bound any more, and
// the informer knows those that have been.
func (l *LateSeats) free(knows func(ledger.PodRef) bool) []*corev1.Pod {
	l.mu.Lock()
	defer l.mu.Unlock()
	var pods []*corev1.Pod
	for uid, waits := range l.turnedAway {
		if !l.listed || !l.freeLocked(uid, waits, knows) {
			continue
		}
		pods = append(pods, waits.pod)
		if waits.woken++; waits.woken >= wakes {
			delete(l.turnedAway, uid)
		}
	}
	l.finishLocked()
	return pods
}

func (l *LateSeats) freeLocked(uid types.UID, waits *turnedAway, knows func(ledger.PodRef) bool) bool {
	of := l.workloads[waits.revision]
	if of == nil {
		return true
	}
	for other, o := range of.open {
		if other != uid && (o.node == "" || !knows(o.PodRef)) {
			return false
		}
	}
	return true
}

// known returns a pod that the informer knows as bound, nil if it does not.
func (b *Background) known(ref ledger.PodRef) *corev1.Pod {
	if pod := b.Pod(ref.Namespace, ref.Name); pod != nil && pod.UID == ref.UID && pod.Spec.NodeName != "" {
		return pod
	}
	return nil
}

// gone reports whether a pod that was bound has gone or ended, though the informer has never shown
// it.
func (b *Background) gone(ctx context.Context, ref ledger.PodRef) bool {
	if pod := b.known(ref); pod != nil {
		return !workload.Lives(pod)
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	bound, err := ref.Bound(ctx, b.Client)
	return err == nil && !bound
}

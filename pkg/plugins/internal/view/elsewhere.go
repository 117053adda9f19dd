// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
)

// Seat is a seat of a revision in a cluster.
type Seat struct {
	Revision workload.Revision
	Stamp    stamp.Stamp
}

// Elsewhere knows the seats that others than this process have given to bound pods a moment ago:
// the policy controller to one that it restamps, or another scheduler. It hears of them when the
// informer receives them, which is before any handler does. After a watch that has been away the
// informer hands over what it has listed one pod after the other, in no order, and the scheduler
// may try a waiting pod while the view still lacks a seat that was given meanwhile. It is safe for
// concurrent use.
type Elsewhere struct {
	clock  clock.PassiveClock
	mu     sync.Mutex
	known  atomic.Int64
	byPod  map[types.UID]given
	bySeat map[Seat]types.UID
	sweep  time.Time
}

type given struct {
	seat Seat
	at   time.Time
}

// remembered is how long a seat is remembered. It is longer than a decision may be under way: a
// Binding waits for the fence for as long as a lease lasts.
const remembered = time.Minute

// NewElsewhere returns an empty set.
func NewElsewhere(clk clock.PassiveClock) *Elsewhere {
	return &Elsewhere{clock: clk, byPod: map[types.UID]given{}, bySeat: map[Seat]types.UID{}}
}

// Received takes down the seat of a pod as it was received, given how the informer knew it before.
func (e *Elsewhere) Received(pod, before *corev1.Pod) {
	placed, has := stamp.Of(pod)
	if !has || placed.Seat == stamp.NoSeat || !workload.Lives(pod) {
		e.Drop(pod.UID)
		return
	}
	if was, _ := stamp.Of(before); was == placed {
		return
	}
	revision, _ := workload.RevisionUnder(pod, placed.Policy)
	now := e.clock.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.expire(now)
	e.dropLocked(pod.UID)
	taken := given{Seat{revision, placed}, now}
	e.byPod[pod.UID], e.bySeat[taken.seat] = taken, pod.UID
	e.known.Store(int64(len(e.byPod)))
}

// Taken reports whether another pod was given the seat a moment ago.
func (e *Elsewhere) Taken(pod types.UID, seat Seat) bool {
	if e.known.Load() == 0 {
		return false
	}
	now := e.clock.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	by, found := e.bySeat[seat]
	return found && by != pod && now.Sub(e.byPod[by].at) < remembered
}

// Drop forgets a pod, which may be unknown.
func (e *Elsewhere) Drop(pod types.UID) {
	if e.known.Load() == 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dropLocked(pod)
	e.known.Store(int64(len(e.byPod)))
}

func (e *Elsewhere) dropLocked(pod types.UID) {
	before, found := e.byPod[pod]
	if !found {
		return
	}
	delete(e.byPod, pod)
	if e.bySeat[before.seat] == pod {
		delete(e.bySeat, before.seat)
	}
}

// expire forgets what is old, now and then.
func (e *Elsewhere) expire(now time.Time) {
	if now.Before(e.sweep) {
		return
	}
	e.sweep = now.Add(remembered)
	for pod, taken := range e.byPod {
		if now.Sub(taken.at) >= remembered {
			e.dropLocked(pod)
		}
	}
}

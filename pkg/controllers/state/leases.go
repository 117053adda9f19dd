// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"context"
	"fmt"
	"regexp"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// LeaseTaker is the holder of Leases that were taken from schedulers that no longer renew them.
const LeaseTaker = "berth-controller-manager"

// defaultDuration is how long a Lease lasts that does not say so.
const defaultDuration = 15 * time.Second

// IsAlive reports whether a process of a Scheduler holds its Lease, as its condition says.
func IsAlive(s *berthv1alpha1.Scheduler) bool {
	return apimeta.IsStatusConditionTrue(s.Status.Conditions, berthv1alpha1.SchedulerReady)
}

// LeaseOf returns the Lease of a Scheduler.
func LeaseOf(s *berthv1alpha1.Scheduler) types.NamespacedName {
	if s.Spec.Lease != nil {
		return types.NamespacedName{Namespace: s.Spec.Lease.Namespace, Name: s.Spec.Lease.Name}
	}
	return DefaultLease(s.Name)
}

// DefaultLease returns the Lease of a Scheduler that names none.
func DefaultLease(name string) types.NamespacedName {
	return types.NamespacedName{
		Namespace: berthv1alpha1.DefaultLeaseNamespace, Name: berthv1alpha1.DefaultLeasePrefix + name,
	}
}

// Leases knows which Leases are renewed. It goes by its own clock from the moment at which it saw a
// renewal, so that clocks which differ between machines do no harm. It is safe for concurrent use.
type Leases struct {
	reader client.Reader
	writer client.Client
	clock  clock.PassiveClock

	mu   sync.Mutex
	seen map[types.NamespacedName]renewal
	// ruledOut are the Leases that were taken since which nothing that their holders had sent can
	// bind a pod any more.
	ruledOut map[types.NamespacedName]bool
}

// renewal is the last change of a Lease.
type renewal struct {
	holder   string
	renewed  metav1.MicroTime
	duration time.Duration
	at       time.Time
	// missing is when it was found that somebody has deleted the Lease; zero if it is there.
	missing time.Time
}

// lost reports whether the holder of a Lease that was deleted may still act by it.
func (r *renewal) lost(now time.Time) bool {
	return !r.missing.IsZero() && now.Sub(r.missing) < r.duration
}

// NewLeases returns a tracker. The reader must read from the API server itself; the writer also
// writes pods.
func NewLeases(reader client.Reader, writer client.Client, clk clock.PassiveClock) *Leases {
	return &Leases{
		reader: reader, writer: writer, clock: clk,
		seen: map[types.NamespacedName]renewal{}, ruledOut: map[types.NamespacedName]bool{},
	}
}

// Lease is what is known of a Lease.
type Lease struct {
	// Exists is true if there is one.
	Exists bool
	// Alive is true from a renewal by a scheduler until the Lease has lasted as long as it says.
	Alive bool
	// Holder is who holds it.
	Holder string
	// Lost is true if somebody has deleted it, or a stranger has taken it, for as long as its holder
	// may act as if it had it.
	Lost bool
	// Stranger is true if it is held by something else than a process of a scheduler, which places
	// no pods however often it renews the Lease.
	Stranger bool
}

// processIdentity is how a process of a scheduler names itself in its Lease: HOST_UUID.
var processIdentity = regexp.MustCompile(`_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// heldByStranger reports whether a Lease is held by somebody who cannot be a process of a
// scheduler.
func heldByStranger(lease *coordinationv1.Lease) bool {
	holder := ptr.Deref(lease.Spec.HolderIdentity, "")
	return holder != "" && holder != LeaseTaker && !processIdentity.MatchString(holder)
}

// Get reads a Lease. An error names it.
func (l *Leases) Get(ctx context.Context, key types.NamespacedName) (Lease, error) {
	lease, err := l.read(ctx, key)
	if err != nil {
		return Lease{}, err
	}
	if lease == nil {
		return Lease{Lost: l.noteMissing(key)}, nil
	}
	if heldByStranger(lease) {
		return Lease{Exists: true, Holder: *lease.Spec.HolderIdentity, Lost: l.noteMissing(key), Stranger: true}, nil
	}
	return l.note(key, lease), nil
}

// noteMissing notes that there is no Lease, and reports whether its holder may still act by it. One
// that has its Lease makes it anew.
func (l *Leases) noteMissing(key types.NamespacedName) bool {
	now := l.clock.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	last, known := l.seen[key]
	if !known || last.holder == LeaseTaker {
		delete(l.seen, key)
		return false
	}
	if last.missing.IsZero() {
		last.missing = now
		l.seen[key] = last
	}
	return last.lost(now)
}

func (l *Leases) read(ctx context.Context, key types.NamespacedName) (*coordinationv1.Lease, error) {
	lease := &coordinationv1.Lease{}
	err := l.reader.Get(ctx, key, lease)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading lease %s: %w", key, err)
	}
	return lease, nil
}

func (l *Leases) note(key types.NamespacedName, lease *coordinationv1.Lease) Lease {
	now := l.clock.Now()
	next := renewal{
		holder: ptr.Deref(lease.Spec.HolderIdentity, ""), renewed: ptr.Deref(lease.Spec.RenewTime, metav1.MicroTime{}),
		duration: durationOf(lease), at: now,
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	before, known := l.seen[key]
	switch {
	case known && before.renewed.Equal(&next.renewed) && before.holder == next.holder:
		next = before
		next.missing = time.Time{}
	case known && next.holder == "":
		// Given back: another process of the scheduler may take it up for as long as it would have
		// lasted.
		next.at, next.duration = before.at, before.duration
	}
	l.seen[key] = next
	if next.holder != LeaseTaker {
		delete(l.ruledOut, key)
	}
	alive := next.holder != LeaseTaker && !next.renewed.IsZero() && now.Sub(next.at) < next.duration
	return Lease{Exists: true, Alive: alive, Holder: next.holder}
}

// durationOf returns how long a Lease lasts. One that is given back says one second, which is not
// what its holder had.
func durationOf(lease *coordinationv1.Lease) time.Duration {
	seconds := ptr.Deref(lease.Spec.LeaseDurationSeconds, 0)
	if seconds <= 1 {
		return defaultDuration
	}
	return time.Duration(seconds) * time.Second
}

// Acquire takes the Lease of a scheduler that has not renewed it for as long as it lasts. Until the
// returned time no process of the scheduler can hold it, so none sends anything. False says that
// the Lease is alive after all, or that its holder may not know yet that somebody has deleted it.
func (l *Leases) Acquire(ctx context.Context, key types.NamespacedName) (until time.Time, taken bool, err error) {
	lease, err := l.read(ctx, key)
	if err != nil {
		return time.Time{}, false, err
	}
	start := l.clock.Now()
	if lease == nil {
		if l.noteMissing(key) {
			return time.Time{}, false, nil
		}
		lease = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
		fill(lease, start)
		lease.Spec.LeaseDurationSeconds = ptr.To(int32(defaultDuration.Seconds()))
		err = l.writer.Create(ctx, lease)
	} else {
		stranger := heldByStranger(lease)
		if stranger && l.noteMissing(key) || !stranger && l.note(key, lease).Alive {
			return time.Time{}, false, nil
		}
		fill(lease, start)
		// A process waits for as long as the Lease says before it takes it back. What a stranger has
		// written there, or who has given it back, is not how long that is.
		duration := durationOf(lease)
		if stranger {
			duration = defaultDuration
		}
		lease.Spec.LeaseDurationSeconds = ptr.To(int32(duration.Seconds()))
		err = l.writer.Update(ctx, lease)
	}
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return time.Time{}, false, nil // somebody was quicker, which the next Get shows
	}
	if err != nil {
		return time.Time{}, false, fmt.Errorf("taking lease %s: %w", key, err)
	}
	// Who waits for it waits for a whole duration, and a third of that leaves time for the writes
	// that follow.
	return start.Add(durationOf(lease) / 3), true, nil
}

func fill(lease *coordinationv1.Lease, now time.Time) {
	lease.Spec.HolderIdentity = ptr.To(LeaseTaker)
	lease.Spec.AcquireTime = ptr.To(metav1.NewMicroTime(now))
	lease.Spec.RenewTime = ptr.To(metav1.NewMicroTime(now))
}

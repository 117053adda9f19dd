// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"

	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/clusterresource/internal/spending"
	"berth.dev/berth/pkg/plugins/internal/settle"
)

const (
	// raisedInterval is how often it is looked how much can be given out again, while pods are
	// settled.
	raisedInterval = 100 * time.Millisecond

	// holdTime is how long pods are kept out of the queue at most because all that is free may be
	// taken. Who has to wait for longer is told why.
	holdTime = 3 * time.Second
)

// settleLate makes late Bindings of the process before impossible where they keep units from being
// given out, until the context ends, and wakes the pods that can have what is not kept any longer.
// Where a pool was full at the take-over none can happen, so nothing is written to the pods that
// wait for it.
func (s *Shared) settleLate(ctx context.Context, b *Background) {
	settler := &settle.Settler{Client: b.Client, Known: b.Pod}
	select {
	case <-ctx.Done():
	case <-s.Seed.Listed():
	}
	for ctx.Err() == nil {
		if open := s.Late.Open(s.usablePools); len(open) > 0 {
			pass, end := context.WithCancel(ctx)
			go s.wakeMeanwhile(pass, b)
			workqueue.ParallelizeUntil(ctx, settle.Workers, len(open), func(i int) { s.settle(ctx, settler, &open[i]) })
			end()
		}
		s.wakeRaised(b) // pods that have gone or changed are settled elsewhere
		if s.Late.Over() {
			b.Settled()
		}
		pause := raisedInterval // whom to settle is not known before ClusterResources have been read
		if s.Catalog.Snapshot() != nil {
			s.letGo(b)
			pause = lookInterval
		}
		select {
		case <-ctx.Done():
		case <-s.Clock.After(pause):
		}
	}
}

// SettleAhead makes late Bindings of the leader impossible by which pods could get what was free
// when they were listed, in a process that does not lead yet. The list must have been begun when
// the leader could not send any more.
func (s *Shared) SettleAhead(ctx context.Context, b *Background, listed *spending.Reader) {
	settler := &settle.Settler{Client: b.Client, Known: b.Pod}
	open := listed.Late.Open(s.usablePools)
	workqueue.ParallelizeUntil(ctx, settle.Workers, len(open), func(i int) { settler.Try(ctx, open[i].PodRef, open[i].Version) })
}

// AheadReader takes over from a list what SettleAhead needs.
func (*Shared) AheadReader() *spending.Reader {
	return &spending.Reader{Late: spending.NewLate(), Bound: func() int { return 0 }, Ended: func() {}}
}

// wakeMeanwhile wakes pods while others are being settled, until the context ends. A thousand take
// seconds, and one of them may have to wait for its answer.
func (s *Shared) wakeMeanwhile(ctx context.Context, b *Background) {
	began := s.Clock.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.Clock.After(raisedInterval):
			s.wakeRaised(b)
			if s.Clock.Since(began) >= holdTime {
				s.letGo(b)
			}
		}
	}
}

// wakeRaised wakes the pods that can have what is not kept any longer: those that were tried in
// vain, and those that were held back.
func (s *Shared) wakeRaised(b *Background) {
	if raised := s.Late.Raised(s.usablePools); len(raised) > 0 {
		b.Wake(s.Waiting.Raised(raised))
	}
	if freed := s.Late.Freed(s.usablePools); len(freed) > 0 {
		b.Wake(freed)
	}
}

// letGo lets the pods be tried that are held back still.
func (s *Shared) letGo(b *Background) {
	if held := s.Late.LetGo(); len(held) > 0 {
		b.Wake(held)
	}
}

// usablePools returns the pools of a ClusterResource, nil if there are none that can be used.
func (s *Shared) usablePools(name string) *pool.Resource {
	known := s.Catalog.Snapshot()
	if known == nil {
		return nil
	}
	if r := known.Get(name); r != nil && r.Err == nil {
		return r.Pools
	}
	return nil
}

// settle tries once to make a late Binding of a pod impossible. What the pod was charged by one
// that has arrived is counted before.
func (s *Shared) settle(ctx context.Context, settler *settle.Settler, c *spending.Claimant) {
	pod, certain := settler.Try(ctx, c.PodRef, c.Version)
	if !certain {
		return
	}
	if pod != nil && pod.UID == c.UID {
		if charges, charged := stamp.ChargesOf(pod); charged {
			s.Pending.PutUnseen(c.PodRef, charges)
		}
	}
	s.Late.Settled(c.UID)
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"time"

	"berth.dev/berth/pkg/history"
)

const (
	// StampsPerSecond limits new stamps, over all policies: a workload of 2,000 pods is to be taken
	// over within five seconds.
	StampsPerSecond = 500
	// StampsAtOnce is how many of them may be written without a pause.
	StampsAtOnce = 1000
	// restampAgain is when a pass that ran into the rate limit goes on: as soon as there is something
	// to do for another one.
	restampAgain = 200 * time.Millisecond
)

// restamp writes the new places of pods whose stamp is out of date: because the weights or the
// policy have changed so much that the order of the pods is not right any more, because the node
// has moved to another Cluster, because a pod turned out to be surplus, or because the policy takes
// over pods that none has placed. A workload that shrinks afterwards loses the right pods. Nothing
// is written while a workload has more pods than replicas, because its controller is deciding by
// the present places at that moment. Where many pods are only in another order than they should be,
// those that go last wait.
func (p *pass) restamp(ctx context.Context) error {
	var writes []write
	for _, in := range p.policies {
		for _, placed := range in.placements {
			p.requeueAfter(placed.putOff)
			for i, place := range placed.places {
				changes := in.Restamped(&placed.Shares.Pods[i], place, placed.bound[i])
				if len(changes) == 0 {
					continue
				}
				if !p.Restamps.TryAccept() {
					p.requeueAfter(restampAgain)
					return p.annotate(ctx, writes)
				}
				writes = append(writes, write{pod: placed.bound[i], changes: changes, adopt: func() {
					p.remember(in, placed, placed.bound[i], history.Adopted, adopted(in, changes, placed.bound[i]))
				}})
			}
		}
	}
	return p.annotate(ctx, writes)
}

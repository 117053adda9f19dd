// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"time"

	"berth.dev/berth/pkg/controllers/adviser"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/simulator"
)

// observeMaking finds out whether the pods of a feed are made for which room is kept.
func (it *item) observeMaking(f int, known *stuck, now time.Time, life time.Duration) {
	made, unmade := it.unmade(f)
	known.making = known.making.Next(now, life, made, unmade)
	it.feeds[f].making = known.making
	switch expires := known.making.Expires; {
	case known.making.Over(now):
		it.input.Feeds[f].Stalled = unmade
	case !expires.IsZero() && (it.next.IsZero() || expires.Before(it.next)):
		it.next = expires
	}
}

// unmade returns how many pods of a feed there are, and how many nobody has made. Of kinds that are
// not read it is not known who makes pods, and whether that waits until the bundle starts. The pods
// of a CronJob are those of its Jobs, which come and go.
func (it *item) unmade(f int) (made, unmade int64) {
	wanted, ref := it.input.Feeds[f].Wanted, it.feeds[f].ref
	kind := workload.KindFor(ref.APIVersion, ref.Kind)
	switch {
	case wanted == nil || !it.promises(), kind != nil && !kind.WantsPods(), kind == nil && it.input.Bundled && !it.input.Pledged:
		return 0, 0
	}
	return it.feeds[f].observed.Unmade(*wanted)
}

// promisedHere returns which promises a decision about the items takes the place of, beside those
// of an earlier one: those of moves within what they divide by room.
func promisedHere(items []*item) func(*adviser.Promise) bool {
	owners := map[workload.ID]bool{}
	for _, it := range items {
		for f := range it.feeds {
			if o := it.feeds[f].observed; o != nil && it.promises() {
				owners[o.ID()] = true
			}
		}
	}
	return func(p *adviser.Promise) bool { return owners[p.Owner] }
}

// promisesOf returns what a decision has reserved as promises to the workloads.
func promisesOf(items []*item, reserved []simulator.Reservation) []adviser.Promise {
	list := make([]adviser.Promise, len(reserved))
	for i, r := range reserved {
		f := &items[r.Subscription].feeds[r.Feed]
		list[i] = adviser.Promise{Cluster: r.Cluster, Pod: f.sample, Copies: r.Copies, Away: r.Away}
		if f.observed != nil {
			list[i].Owner = f.observed.ID()
		}
	}
	return list
}

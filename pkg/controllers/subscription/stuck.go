// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"context"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/model/division"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/bundle"
	"berth.dev/berth/pkg/placement/caps"
	"berth.dev/berth/pkg/placement/divide"
	"berth.dev/berth/pkg/placement/names"
	"berth.dev/berth/pkg/placement/promise"
	"berth.dev/berth/pkg/placement/subscription"
)

const (
	// defaultGiveUpAfter is how long pods may find no node, unless something else is set.
	defaultGiveUpAfter = 30 * time.Second
	// askAgain is when a cap that is due is thought of again while an autoscaler makes a node.
	askAgain = 10 * time.Second
)

// feedKey names a feed of a Subscription.
type feedKey struct {
	subscription types.UID
	object
}

// stuck is what is remembered of a feed.
type stuck struct {
	// clusters are the states by Cluster, and making is how long room is kept for what has no pod.
	clusters map[string]caps.State
	making   promise.State
	// expected is whether an autoscaler makes a node.
	expected state.Expectation
}

// observation is of one feed in one Cluster.
type observation struct {
	ref     bundle.Ref
	cluster string
	known   *stuck
	caps.Observation
}

// observeStuck observes all feeds in the Clusters that have shares of them or are limited, and
// forgets those that are none any more.
func (r *Reconciler) observeStuck(ctx context.Context, items []*item, now time.Time) []*observation {
	var list []*observation
	here := map[feedKey]*stuck{}
	for s, it := range items {
		for f := range it.feeds {
			if it.input.Feeds[f].Wanted == nil || it.input.Strategy == divide.Replication {
				continue
			}
			key := feedKey{it.object.UID, objectOf(it.feeds[f].ref)}
			known := r.stuck[key]
			if known == nil {
				known = it.recall(f, now)
			}
			here[key] = known
			it.observeMaking(f, known, now, r.PromiseLife)
			list = append(list, r.observeFeed(ctx, it, bundle.Ref{Subscription: s, Feed: f}, known, now)...)
		}
	}
	r.stuck = here
	return list
}

// recall returns what the status of a Subscription tells of the limits of a feed. How long a pause
// is to last is not told: it is at least what is left of it.
func (it *item) recall(f int, now time.Time) *stuck {
	known := &stuck{clusters: map[string]caps.State{}}
	placement := subscription.PlacementOf(it.object, it.feeds[f].ref)
	if placement == nil {
		return known
	}
	if placement.ExpirationTime != nil {
		made, _ := it.unmade(f)
		known.making = promise.State{Expires: placement.ExpirationTime.Time, Made: made}
	}
	for _, c := range placement.Clusters {
		if c.RetryTime != nil && c.Room != nil {
			known.clusters[c.Name] = caps.State{
				Capped: true, Room: int64(*c.Room), LimitedBy: c.LimitedBy, Retry: c.RetryTime.Time,
				Pause: max(it.giveUpAfter(), c.RetryTime.Sub(now)), Bound: it.input.Feeds[f].Bound[c.Name],
			}
		}
	}
	return known
}

func (it *item) giveUpAfter() time.Duration {
	if after := division.DynamicOf(&it.object.Spec).GiveUpAfter; after != nil {
		return after.Duration
	}
	return defaultGiveUpAfter
}

// observeFeed observes one feed.
func (r *Reconciler) observeFeed(
	ctx context.Context, it *item, ref bundle.Ref, known *stuck, now time.Time,
) (list []*observation) {
	input, counted := &it.input.Feeds[ref.Feed], &it.feeds[ref.Feed].census
	waiting, times := workload.WaitInVain(counted.waiting)
	sites := slices.Collect(maps.Keys(known.clusters))
	missing, short := int64(0), 0
	for name, share := range input.Recorded {
		sites = append(sites, name)
		if lacking := share - input.Bound[name]; lacking > 0 {
			missing, short = missing+lacking, short+1
		}
	}
	since := caps.Oldest(times, short, missing)
	slices.Sort(sites)
	for _, name := range slices.Compact(sites) {
		o := &observation{ref, name, known, caps.Observation{
			Now: now, Share: input.Recorded[name], Bound: input.Bound[name], Waiting: since,
			LimitedBy: names.Clip(workload.WhyPending(waiting)), GiveUpAfter: it.giveUpAfter(),
		}}
		if due := known.clusters[name].Due(&o.Observation); !due.IsZero() && !now.Before(due) {
			o.Expected = known.expected.Of(ctx, r.Live, waiting, now, &it.around.asked)
		}
		list = append(list, o)
	}
	return list
}

// limit decides in which Clusters feeds get no more replicas than they run.
func (r *Reconciler) limit(items []*item, observed []*observation, room bundle.RoomLedger) {
	for _, o := range observed {
		it, before := items[o.ref.Subscription], o.known.clusters[o.cluster]
		due := before.Due(&o.Observation)
		byRoom := it.input.Strategy.ByRoom()
		if byRoom && (before.Capped || !due.IsZero() && !o.Now.Before(due)) {
			o.Room = room.Count(o.ref, o.cluster, max(bundle.Enough, *it.input.Feeds[o.ref.Feed].Wanted))
		}
		after := before.Next(&o.Observation)
		if before.Capped && !byRoom {
			after = static(before, &o.Observation)
		}
		if after == (caps.State{Bound: o.Bound}) && o.Share == 0 {
			delete(o.known.clusters, o.cluster)
			continue
		}
		o.known.clusters[o.cluster] = after
		it.note(o, after, due)
	}
}

// static returns what follows a limit of a division by weight, which is told and changes nothing:
// it lasts as long as replicas are short of a node.
func static(before caps.State, o *caps.Observation) caps.State {
	if o.Share > o.Bound && !o.Waiting.IsZero() {
		before.LimitedBy, before.Bound = o.LimitedBy, o.Bound
		return before
	}
	return caps.State{Bound: o.Bound}
}

// note lets a decision know of a state, and the next pass come in time.
func (it *item) note(o *observation, state caps.State, due time.Time) {
	input, f := &it.input.Feeds[o.ref.Feed], &it.feeds[o.ref.Feed]
	next := due
	if state.Capped {
		next = state.Retry
		if f.limits == nil {
			f.limits, input.Capped = map[string]caps.State{}, map[string]bool{}
		}
		f.limits[o.cluster], input.Capped[o.cluster] = state, true
		if !it.input.Strategy.ByRoom() {
			return
		}
	} else if !next.IsZero() && !next.After(o.Now) {
		next = o.Now.Add(askAgain)
	}
	if !next.IsZero() {
		it.wake(next)
	}
}

// clusters returns what the status says of a feed in the Clusters that have a share of it, or in
// which the scheduler finds no node for one.
func (o *outcome) clusters(i int) (list []berthv1alpha1.FeedClusterReplicas) {
	shares, limits := o.decision.Feeds[i].Shares, o.feeds[i].limits
	names := map[string]bool{}
	for name := range shares {
		names[name] = true
	}
	for name := range limits {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		entry := berthv1alpha1.FeedClusterReplicas{Name: name, Replicas: int32(shares[name])}
		if limit, limited := limits[name]; limited {
			entry.LimitedBy = limit.LimitedBy
			if o.input.Strategy.ByRoom() {
				entry.Room, entry.RetryTime = new(int32(limit.Room)), &metav1.Time{Time: limit.Retry}
			}
		}
		list = append(list, entry)
	}
	return list
}

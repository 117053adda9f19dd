// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package movelimit decides when pods may begin to move to another cluster, over everything that
// moves pods: a site that dies, or a metric that goes up and down, must not set all of them off at
// once.
//
// Two limits hold, for all clusters together and for those that pods move to. What a limit allows
// in five seconds may begin at once. What moves as a whole may begin as soon as one pod may, and
// counts with all of its pods: those after it wait for longer. Those that wait begin in the order
// of their priority, and of equal ones the first that came; but nobody waits for one that only the
// limit of another cluster holds back.
package movelimit

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	// atOnce is the time in which a limit would allow what may begin at once.
	atOnce = 5 * time.Second
	// soonest and latest bound the time after which it is asked again, and patience is how much later
	// than told one may come and keep its place.
	soonest, latest, patience = time.Second, 15 * time.Second, 10 * time.Second
	// maxPods bounds what one claim counts, so that sums of times do not overflow.
	maxPods = 100_000
)

// Limits are how many pods may begin to move in a minute, in all and to one cluster; 0 is no limit.
type Limits struct {
	PerMinute, PerCluster int
}

// Claim is what wants to begin to move.
type Claim struct {
	// Key tells it from others. It keeps its place as long as it asks with the same one.
	Key string
	// Cluster is where it moves to.
	Cluster string
	// Pods is how many pods that is; less than one counts as one.
	Pods int64
	// Priority is that of the pods: the highest goes first.
	Priority int32
}

// Budget is what has begun to move and what waits. It is not safe for concurrent use. To lose it
// lets as much begin as may begin at once.
type Budget struct {
	limits  Limits
	levels  levels
	waiting map[string]waiter
}

// waiter is a claim in the line, or as many with the same key.
type waiter struct {
	Claim
	count        int64
	since, until time.Time
	// called is true if it was told that it may begin and has not come for it, more if others with its
	// key were told to wait then.
	called, more bool
}

// New returns a Budget that nothing has been taken from.
func New(limits Limits) *Budget {
	return &Budget{limits: limits, levels: levels{clusters: map[string]time.Time{}}, waiting: map[string]waiter{}}
}

// Take lets a claim begin, and returns 0, or after what time it is to ask again. One that does not
// ask again loses its place.
func (b *Budget) Take(c Claim, now time.Time) (wait time.Duration) {
	c.Pods = min(max(1, c.Pods), maxPods)
	b.tidy(now)
	free, queue := b.levels.clone(), b.levels.clone()
	for _, other := range b.before(c, now) {
		for n := other.count; n > 0 && free.wait(b.limits, other.Cluster, now) <= 0; n-- {
			free.take(b.limits, &other.Claim, now)
		}
		other.Pods = min(other.Pods*other.count, maxPods)
		queue.take(b.limits, &other.Claim, now)
	}
	if free.wait(b.limits, c.Cluster, now) <= 0 {
		b.levels.take(b.limits, &c, now)
		b.begun(c.Key, now)
		return 0
	}
	wait = min(max(soonest, queue.wait(b.limits, c.Cluster, now)), latest)
	w := waiter{Claim: c, count: 1, since: now, until: now.Add(wait + patience)}
	if known, waits := b.waiting[c.Key]; waits {
		w.since, w.count = known.since, known.count
	}
	b.waiting[c.Key] = w
	return wait
}

// begun takes who has begun out of the line. One of which others are to wait goes to its end.
func (b *Budget) begun(key string, now time.Time) {
	w := b.waiting[key]
	if !w.more {
		delete(b.waiting, key)
		return
	}
	w.since, w.called, w.count = now, false, max(1, w.count-1)
	b.waiting[key] = w
}

// tidy forgets who has not asked again, and the clusters where nothing has begun of late.
func (b *Budget) tidy(now time.Time) {
	maps.DeleteFunc(b.waiting, func(_ string, w waiter) bool { return now.After(w.until) })
	maps.DeleteFunc(b.levels.clusters, func(_ string, full time.Time) bool { return !full.After(now) })
}

// before returns those that wait and go before a claim, in their order.
func (b *Budget) before(c Claim, now time.Time) []waiter {
	self := waiter{Claim: c, since: now}
	if known, waits := b.waiting[c.Key]; waits {
		self.since = known.since
	}
	var ahead []waiter
	for key, other := range b.waiting {
		if key != c.Key && compare(other, self) < 0 {
			ahead = append(ahead, other)
		}
	}
	slices.SortFunc(ahead, compare)
	return ahead
}

func compare(a, b waiter) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.since.Compare(b.since), strings.Compare(a.Key, b.Key))
}

// levels are when the limits have made up for all that has begun: in all, and by cluster.
type levels struct {
	all      time.Time
	clusters map[string]time.Time
}

func (l *levels) clone() levels { return levels{l.all, maps.Clone(l.clusters)} }

// wait returns how long it is until a pod may begin to move to a cluster.
func (l *levels) wait(limits Limits, cluster string, now time.Time) time.Duration {
	return max(until(l.all, limits.PerMinute, now), until(l.clusters[cluster], limits.PerCluster, now))
}

// take counts the pods of a claim.
func (l *levels) take(limits Limits, c *Claim, now time.Time) {
	l.all = after(l.all, limits.PerMinute, c.Pods, now)
	l.clusters[c.Cluster] = after(l.clusters[c.Cluster], limits.PerCluster, c.Pods, now)
}

// until returns how long it is until a limit allows one pod more.
func until(full time.Time, limit int, now time.Time) time.Duration {
	if limit <= 0 || !full.After(now) {
		return 0
	}
	return max(0, full.Sub(now)+interval(limit)-max(atOnce, interval(limit)))
}

// after returns when a limit has made up for so many pods more.
func after(full time.Time, limit int, pods int64, now time.Time) time.Time {
	if limit <= 0 {
		return full
	}
	if full.Before(now) {
		full = now
	}
	return full.Add(time.Duration(pods) * interval(limit))
}

// interval is the time in which a limit allows one pod.
func interval(limit int) time.Duration { return time.Minute / time.Duration(limit) }

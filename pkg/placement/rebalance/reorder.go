// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rebalance

import (
	"cmp"
	"slices"
	"time"
)

const (
	// ReorderAtOnce is how many pods of a workload may get another place in its order at once. What
	// comes or goes is not counted.
	ReorderAtOnce = 100
	// ReorderPause is how long those beyond wait for the next turn.
	ReorderPause = 5 * time.Minute
	// precision is that of the times at which pods are made.
	precision = time.Second
)

// Reordering paces the writes by which the pods of one workload get into another order that nobody
// has asked for, as when a site joins one of several groups. The zero value has put off nothing.
type Reordering struct {
	// began is when pods were put off last, and came how many have come since, and in the second
	// before: times are not more precise than that.
	began    time.Time
	came     int
	replicas int32
	all      bool
}

// Ask lets all pods that are to be reordered get their places at once: somebody wants that order.
// It holds until none is left.
func (r *Reordering) Ask() { r.all = true }

// PutOff returns which of the pods keep the place that they have for now, by their index, and for
// how long. While some are put off as many get their places as pods come. A workload that has been
// scaled goes on at once, because its order ends elsewhere now.
func (r *Reordering) PutOff(pods []Replica, places []Place, replicas int32, now time.Time) (rest []int, wait time.Duration) {
	if r.replicas != replicas {
		r.began, r.replicas = time.Time{}, replicas
	}
	turn := reordered(pods, places)
	r.all = r.all && len(turn) > 0
	wait = r.began.Add(ReorderPause).Sub(now)
	more := ReorderAtOnce
	if wait > 0 {
		young := younger(pods, now.Sub(r.began)+precision)
		more, r.came = max(0, young-r.came), max(r.came, young)
	}
	switch {
	case r.all, len(turn) <= more:
		return nil, 0
	case wait <= 0:
		r.began, r.came, wait = now, younger(pods, precision), ReorderPause
	}
	return turn[more:], wait
}

// younger returns how many pods are younger than so.
func younger(pods []Replica, age time.Duration) (count int) {
	for i := range pods {
		if pods[i].Age < age {
			count++
		}
	}
	return count
}

// reordered returns the pods that have a place and should have another one. The first are those
// that go first when the workload shrinks: once so many of them have their places the end of the
// order is right, as far as the next one.
func reordered(pods []Replica, places []Place) []int {
	var turn []int
	for i, place := range places {
		if p := &pods[i]; !p.Fixed && p.Place >= 0 && place >= 0 && p.Place != place {
			turn = append(turn, i)
		}
	}
	slices.SortFunc(turn, func(a, b int) int {
		return cmp.Or(
			cmp.Compare(max(pods[b].Place, places[b]), max(pods[a].Place, places[a])),
			cmp.Compare(pods[a].Name, pods[b].Name),
		)
	})
	return turn
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package divide

import "berth.dev/berth/pkg/placement/apportion"

// run is a number of replicas that are shared out among some clusters.
type run struct {
	order    *apportion.Order
	members  []int // by index in the order
	replicas int64
}

// newRun prepares sharing out among the members, which count as the function tells.
func newRun(members []int, as func(cluster int) apportion.Cluster) (run, error) {
	list := make([]apportion.Cluster, len(members))
	for i, cluster := range members {
		list[i] = as(cluster)
	}
	order, err := apportion.NewOrder(list)
	return run{order: order, members: members}, err
}

// share adds the shares of so many replicas, times a sign, to the shares of all clusters. It
// returns how many replicas found a place.
func (r *run) share(replicas int64, shares []int64, sign int64) int64 {
	more, unplaced := r.order.Shares(replicas)
	for i, n := range more {
		shares[r.members[i]] += sign * n
	}
	r.replicas = replicas - unplaced
	return r.replicas
}

// appendSeats appends the clusters of the replicas in the order in which they are placed.
func (r *run) appendSeats(seats []int32) []int32 {
	for _, i := range r.order.Seats(r.replicas) {
		seats = append(seats, int32(r.members[i]))
	}
	return seats
}

// Seats returns the clusters, by index, of the replicas: first of those that stay, interleaved in
// proportion, then of the others in the order in which they are placed. It is for showing a
// division and not for counting it: not more than [apportion.MaxSeats] are listed, and none for
// Replication.
func (d *Division) Seats() []int32 {
	seats := []int32{}
	for _, r := range append(d.stay(), d.runs...) {
		if len(seats) < apportion.MaxSeats {
			seats = r.appendSeats(seats)
		}
	}
	return seats[:min(len(seats), apportion.MaxSeats)]
}

// stay returns the replicas that stay as if they had been shared out, nothing if there are none.
func (d *Division) stay() []run {
	var members []int
	var sum int64
	for cluster, n := range d.kept {
		if n > 0 {
			members = append(members, cluster)
			sum += n
		}
	}
	r, err := newRun(members, func(cluster int) apportion.Cluster {
		return apportion.Cluster{Name: d.clusters[cluster].Name, Weight: d.kept[cluster]}
	})
	if err != nil {
		return nil
	}
	r.replicas = sum
	return []run{r}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"maps"
	"slices"
	"strings"

	"berth.dev/berth/pkg/placement/apportion"
)

// Gate is whether the pods of a Subscription may start.
type Gate string

const (
	// NotNeeded is the admission of what is no bundle.
	NotNeeded Gate = ""

	// Waits is a bundle that is not admitted.
	Waits Gate = "Waits"

	// Kept is a bundle that has been admitted before and still is.
	Kept Gate = "Kept"

	// Granted is a bundle that this decision admits.
	Granted Gate = "Granted"
)

// Result is how a Subscription is divided. Its maps are not to be changed: some are those of the
// input.
type Result struct {
	// Clusters are those that can be used, by name.
	Clusters []SelectedCluster

	// Left names the clusters that others have the shares of, because they were offline for too long.
	Left []string

	// Problem says why nothing can be divided, nil if something can.
	Problem *Problem

	// Admission reports whether pods may start. Provisional reports that the admission lapses when
	// its time is over, if no pod has a node by then.
	Admission   Gate
	Provisional bool

	// Waiting says why a bundle waits; empty if it does not. Short is the index of the feed that finds
	// no room if that is why, nil otherwise.
	Waiting string
	Short   *int

	// Feeds are the divisions of the feeds, as they were given.
	Feeds []FeedDivision
}

// FeedDivision is how one feed is divided. Maps hold numbers of replicas by cluster.
type FeedDivision struct {
	// Held is what is kept of an earlier division, for strategies by room and for bundles that wait.
	Held map[string]int64

	// Shares is the division; nil for a feed that is not divided.
	Shares map[string]int64

	// Unplaced is the number of wanted replicas that have no share. Lacking is the number of
	// replicas of an admitted bundle that have a share, but for which there is no room any more: a
	// share by weight, or one whose nodes are away and that fits nowhere else.
	Unplaced, Lacking int64

	// Home is the cluster of the listed object, and Copies names, in order, the clusters of the
	// copies, which want Copied replicas together. They are for the strategy Replication.
	Home   string
	Copies []string
	Copied int64

	// NotCopied reports that clusters go without the feed because objects of its kind are not copied.
	NotCopied bool
}

// Admitted reports whether pods may start.
func (r *Result) Admitted() bool { return r.Admission != Waits }

// Open reports whether a cluster can be used and takes pods.
func (r *Result) Open(cluster string) bool {
	c := r.cluster(cluster)
	return c != nil && c.Open
}

// cluster returns a cluster that can be used, nil if this one cannot.
func (r *Result) cluster(name string) *SelectedCluster {
	i, found := slices.BinarySearchFunc(r.Clusters, name, func(c SelectedCluster, name string) int { return strings.Compare(c.Name, name) })
	if !found {
		return nil
	}
	return &r.Clusters[i]
}

// Seats returns the shares as clusters of a seat order, by name: each gets its share and nothing
// else. Clusters that are not open come last in that order, so that their seats are given up first.
// The shares are larger than 0.
func (r *Result) Seats(shares map[string]int64) []apportion.Cluster {
	seats := make([]apportion.Cluster, 0, len(shares))
	closed := false
	for _, name := range slices.Sorted(maps.Keys(shares)) {
		seats = append(seats, apportion.Cluster{Name: name, Weight: shares[name], Max: new(shares[name])})
		closed = closed || !r.Open(name)
	}
	for i := range seats {
		if closed && r.Open(seats[i].Name) {
			seats[i].Min = *seats[i].Max
		}
	}
	return seats
}

// Sum returns the replicas of all clusters together.
func Sum(shares map[string]int64) (total int64) {
	for _, n := range shares {
		total += n
	}
	return total
}

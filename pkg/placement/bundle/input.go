// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"k8s.io/apimachinery/pkg/labels"

	"berth.dev/berth/pkg/placement/divide"
)

// Subscription is what is known of a Subscription before a decision. Decide does not change it.
type Subscription struct {
	// Name names the Subscription in errors.
	Name string

	// Strategy says by what replicas are divided.
	Strategy divide.Strategy

	// MinClusters and MaxClusters bound the number of clusters that a feed uses, as in divide.Load.
	MinClusters, MaxClusters int64

	// Bundled reports that the feeds are admitted all at once or not at all.
	Bundled bool

	// Pledged reports that the bundle has been admitted before, Expired that it has had its time to
	// start a pod.
	Pledged, Expired bool

	// Rebalance forgets which clusters the feeds use. It counts for strategies by room.
	Rebalance bool

	// Clusters are the selected clusters, each once, in any order.
	Clusters []SelectedCluster

	// Subgroups restrict the clusters to some of each group; nil stands for no restriction.
	Subgroups []divide.Selection

	// Problem says why nothing can be divided, nil if nothing is known to be wrong. Clusters is
	// empty then.
	Problem *Problem

	// Feeds are the feeds in the order in which they are served.
	Feeds []Feed
}

// Problem is why nothing can be divided: a reason of a condition, and a message for users.
type Problem struct{ Reason, Message string }

// SelectedCluster is a selected cluster.
type SelectedCluster struct {
	// Name identifies the cluster.
	Name string

	// Labels are what subgroups select clusters by.
	Labels labels.Set

	// Weight and Preference count as in divide.Target.
	Weight, Preference int64

	// Open reports that the cluster takes pods.
	Open bool

	// Cordoned reports that the cluster is to take no pods, whether it could or not. What runs there
	// stays.
	Cordoned bool

	// Away reports that the cluster is offline, and Left that it was so for too long and, unless it
	// is Away, is not trusted again yet. Away and not Left it keeps its shares, whether their pods
	// exist or not; Left it has none as long as there is another one. Both are false for what says
	// nothing of clusters that go offline.
	Away, Left bool

	// WasLeft reports that it is Left, and already was before. Such a one stays left while those that
	// have its shares are offline for a while themselves.
	WasLeft bool
}

// Feed is what is known of one feed. Maps hold numbers of replicas by cluster; an absent cluster
// has none.
type Feed struct {
	// Name names the feed in messages, "Deployment web" for instance.
	Name string

	// Obstacle says why it is not known what the feed wants; empty if it is known.
	Obstacle string

	// KeepsRecord reports that what is recorded stays despite the obstacle.
	KeepsRecord bool

	// Wanted is the number of replicas; nil for what is copied whole, and for a feed with an obstacle.
	Wanted *int64

	// Stalled is how many of the wanted replicas have had no pod for so long that no room is kept for
	// them. They get no share by room until somebody makes pods, and a bundle is not admitted without
	// them.
	Stalled int64

	// Recorded is the division that the status of the Subscription records, Published the one that
	// the policy of the feed was made for. Published counts if nothing is recorded.
	Recorded, Published map[string]int64

	// Bound counts the living pods on nodes.
	Bound map[string]int64

	// Capped holds the clusters that get no more replicas than are bound there, whatever room they
	// seem to have. It counts for strategies by room.
	Capped map[string]bool

	// HasPods, Copyable, Home and Copies count for the strategy Replication. HasPods reports that
	// pods of the object are observed, Copyable that copies can run beside it. Home is the cluster
	// that its policy names alone, empty if there is none. Copies is the number of replicas of
	// those copies that exist.
	HasPods, Copyable bool
	Home              string
	Copies            map[string]int64
}

// Ref names a feed by the index of its Subscription in what Decide was given, and by its own index
// in that.
type Ref struct{ Subscription, Feed int }

// RoomLedger is a ledger of how many replicas clusters have room for. Feeds may need different
// amounts of the same nodes, so what is reserved for one changes what is left for others in ways
// that only the owner of the ledger can count. Its answers depend on nothing but the questions and
// reservations before. If it cannot answer it returns 0; its owner knows, and discards the
// decision.
type RoomLedger interface {
	// Count returns how many more replicas of the feed fit into a selected cluster, 0 to limit.
	Count(feed Ref, cluster string, limit int64) int64

	// Reserve takes room for so many replicas off what is left, and returns for how many there was
	// any. Numbers below 1 reserve nothing.
	Reserve(feed Ref, cluster string, replicas int64) int64

	// Hold is Reserve on nodes of the cluster that are away, as if they were back: what a replica
	// takes beside its node, such as units of a pool, is not left for others. Release, which must not
	// be called after a Rollback to a mark before, makes that free again.
	Hold(feed Ref, cluster string, replicas int64) (held int64, release func())

	// Mark returns the present state, and Rollback returns to it: what has been reserved since is
	// free again.
	Mark() int
	Rollback(mark int)
}

// due returns how many replicas get a share, if there is room: those that are wanted, but for those
// of which nobody makes pods.
func (f *Feed) due() int64 { return max(0, *f.Wanted-f.Stalled) }

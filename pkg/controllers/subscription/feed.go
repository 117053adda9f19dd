// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/division"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/bundle"
	"berth.dev/berth/pkg/placement/caps"
	"berth.dev/berth/pkg/placement/divide"
	"berth.dev/berth/pkg/placement/promise"
	"berth.dev/berth/pkg/placement/subscription"
)

// feed is what has been read of a feed, beside what is decided on.
type feed struct {
	ref *berthv1alpha1.Feed
	// observed is the workload, nil if it does not exist or is of a kind that is not read and has
	// no pods.
	observed *workload.Observed
	// sample is a pod like those of the feed as far as room is concerned, nil if it is not known.
	sample *corev1.Pod
	// foreign reports that the obstacle is that the feed belongs to somebody else, policyTaken that
	// its policy does, and refused that the API server would not create its pods.
	foreign, policyTaken, refused bool
	// census counts the pods, those of the copies included.
	census
	// making is how long room is kept for replicas without a pod.
	making promise.State
	// limits are the Clusters in which the scheduler finds no node for more replicas.
	limits map[string]caps.State
	// stranded is the number of living pods on each node that is not ready, or gone.
	stranded map[string]int64
}

// isRead reports whether workloads of the kind are observed even if they have no pods.
func isRead(ref *berthv1alpha1.Feed) bool {
	kind := workload.KindFor(ref.APIVersion, ref.Kind)
	return kind != nil && kind.WantsPods()
}

// readFeed reads the feed with the given index.
func (it *item) readFeed(
	i int, index *subscription.Index, inventory *berthv1alpha1.FeedInventory, snapshot *topology.Snapshot,
) {
	ref := &it.expanded.Spec.Feeds[i]
	f := feed{ref: ref, observed: it.around.known[objectOf(ref)]}
	policy := it.named[subscription.PolicyName(it.object.Name, ref)]
	conflict := policyConflict(policy, it.object, ref)
	if f.policyTaken = conflict != ""; f.policyTaken {
		policy = nil
	}
	input := bundle.Feed{
		Name:     ref.Describe(),
		Recorded: division.RecordedShares(subscription.PlacementOf(it.object, ref)), Published: division.PublishedShares(policy), Home: division.HomeOf(policy),
		HasPods: f.observed != nil, Copyable: division.Copyable(ref),
	}
	trouble, release := it.troubles[i]
	if !release {
		input.Obstacle = f.foreignTo(it.object, i, index)
		f.foreign = input.Obstacle != ""
	}
	switch {
	case release:
		input.Obstacle = trouble.Message
	case f.foreign:
	case f.policyTaken:
		input.Obstacle = conflict
	default:
		input.Wanted, input.Obstacle = it.wants(&f, inventory)
		input.KeepsRecord = !isRead(ref) || f.observed != nil
	}
	f.count(it.around, snapshot)
	input.Bound = f.bound
	if it.input.Strategy == divide.Replication && input.Copyable {
		input.Copies = f.countCopies(it, snapshot)
	}
	it.feeds, it.input.Feeds = append(it.feeds, f), append(it.input.Feeds, input)
}

// foreignTo returns why a Subscription does not place the feed with this index, empty if it does.
func (f *feed) foreignTo(s *berthv1alpha1.Subscription, i int, index *subscription.Index) string {
	if subscription.Foreign(s, f.ref) {
		return "a Subscription can list objects of its own namespace only"
	}
	owner, at := index.Of(s.Namespace, f.ref.APIVersion, f.ref.Kind, f.ref.Name)
	switch {
	case owner == nil:
		return "the Subscription is being deleted"
	case owner.UID != s.UID:
		return fmt.Sprintf("Subscription %s places it, which is older", owner.Name)
	case at != i:
		return "it is listed twice"
	}
	return ""
}

// wants returns how many replicas a feed wants, nil if it is copied whole, or why that is not
// known. Strategies that need to know of no requirements ask the workload alone.
func (it *item) wants(f *feed, inventory *berthv1alpha1.FeedInventory) (replicas *int64, obstacle string) {
	switch {
	case it.promises():
		return it.readInventory(f, inventory)
	case f.observed != nil && f.observed.ReplicasKnown:
		return new(int64(f.observed.Replicas)), ""
	case isRead(f.ref):
		return nil, notFound
	}
	return nil, ""
}

// notFound is why it is not known what a workload wants.
const notFound = "it does not exist, or has finished"

// promises reports whether the status of the Subscription promises room.
func (it *item) promises() bool { return it.input.Strategy.ByRoom() || it.input.Bundled }

// count counts the living pods.
func (f *feed) count(around *surroundings, snapshot *topology.Snapshot) {
	counted := around.tallyOf(f.observed, snapshot)
	f.census, f.stranded = counted.census, counted.stranded
}

// countCopies returns the number of replicas of each copy that exists, by Cluster, and counts their
// pods.
func (f *feed) countCopies(it *item, snapshot *topology.Snapshot) map[string]int64 {
	replicas := map[string]int64{}
	for _, c := range it.input.Clusters {
		ref := division.CopyOf(f.ref, c.Name)
		if present := it.around.known[objectOf(&ref)]; present != nil && present.ReplicasKnown {
			replicas[c.Name] = int64(present.Replicas)
			f.add(&it.around.tallyOf(present, snapshot).census)
		}
	}
	return replicas
}

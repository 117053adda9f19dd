// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// Hold is what keeps the pods of a feed from being scheduled.
type Hold string

const (
	// NotHeld is nothing: the policy of the feed says where its pods go.
	NotHeld Hold = ""

	// BundleWaits is a bundle that has not been admitted.
	BundleWaits Hold = "BundleWaits"

	// NotDivided is a feed that has not been divided, or not for as many replicas as there are now.
	NotDivided Hold = "NotDivided"
)

// HoldOf returns what keeps the pods of a feed of a Subscription. Replicas are those that the feed
// has now, nil if nobody knows. Exists reports whether there is a policy of a name in the
// namespace: that of the feed must have been written before any pod may start, unless the feed is
// copied whole.
func HoldOf(s *berthv1alpha1.Subscription, feed *berthv1alpha1.Feed, replicas *int32, exists func(policy string) bool) Hold {
	hold := undivided(s, feed, replicas)
	if hold == NotHeld && !whole(s, feed) && !exists(PolicyName(s.Name, feed)) {
		return NotDivided
	}
	return hold
}

// undivided returns what is known without the policy of the feed.
func undivided(s *berthv1alpha1.Subscription, feed *berthv1alpha1.Feed, replicas *int32) Hold {
	if Bundled(&s.Spec) && s.Status.Pledge == nil {
		return BundleWaits
	}
	placement := PlacementOf(s, feed)
	switch {
	case placement == nil, placement.Replicas == nil && placement.Message != "":
		return NotDivided
	case !ByRoom(&s.Spec), placement.Replicas == nil, replicas == nil, *replicas == *placement.Replicas:
		return NotHeld
	}
	return NotDivided
}

// whole reports whether a feed of a Subscription that divides by room has no replicas to divide: it
// is copied whole, and there is no policy for it.
func whole(s *berthv1alpha1.Subscription, feed *berthv1alpha1.Feed) bool {
	placement := PlacementOf(s, feed)
	return ByRoom(&s.Spec) && placement != nil && placement.Replicas == nil
}

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
// has now, nil if nobody knows. The policy that PolicyName names must exist as well before any pod
// may start, unless the feed is Whole.
func HoldOf(s *berthv1alpha1.Subscription, feed *berthv1alpha1.Feed, replicas *int32) Hold {
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

// Whole reports whether a feed of a Subscription that divides by room has no replicas to divide: it
// is copied whole, and there is no policy for it.
func Whole(s *berthv1alpha1.Subscription, feed *berthv1alpha1.Feed) bool {
	placement := PlacementOf(s, feed)
	return ByRoom(&s.Spec) && placement != nil && placement.Replicas == nil
}

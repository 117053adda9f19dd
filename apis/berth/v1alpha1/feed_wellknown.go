// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

const (
	// SubscriptionParsed is true while it is known of all feeds of a Subscription what they need.
	SubscriptionParsed = "Parsed"

	// SubscriptionScheduled is true while a share is decided for all replicas of all feeds of a
	// Subscription.
	SubscriptionScheduled = "Scheduled"

	// SubscriptionAvailable is true while all pods that the feeds want run.
	SubscriptionAvailable = "Available"

	// SubscriptionDegraded is true while something that was placed has lost its place.
	SubscriptionDegraded = "Degraded"

	// InventoryComplete is true while it is known of all feeds of a FeedInventory what they need.
	InventoryComplete = "Complete"

	// FeedParsed is true while it is known what a feed needs.
	FeedParsed = "Parsed"

	// FeedParserAccepted is true while a FeedParser is used.
	FeedParserAccepted = "Accepted"

	// FeedParserConflicted is true while another FeedParser says something else of the same kind. Both
	// have the condition, whichever is used.
	FeedParserConflicted = "Conflicted"
)

const (
	// ReasonFeedParsed says that it is known what a feed needs.
	ReasonFeedParsed = "Parsed"

	// ReasonCopiedWhole says that nothing reads objects of the kind: a feed is copied whole.
	ReasonCopiedWhole = "CopiedWhole"

	// ReasonFeedNotFound says that the object does not exist yet.
	ReasonFeedNotFound = "NotFound"

	// ReasonFeedKindNotServed says that the API server knows no such kind yet.
	ReasonFeedKindNotServed = "KindNotServed"

	// ReasonFeedForbidden says that Berth lacks the permission to read objects of the kind.
	ReasonFeedForbidden = "Forbidden"

	// ReasonFeedForeignNamespace says that a feed is in another namespace than the Subscription, or in
	// none.
	ReasonFeedForeignNamespace = "ForeignNamespace"

	// ReasonFeedDuplicate says that the Subscription lists the same object twice.
	ReasonFeedDuplicate = "Duplicate"

	// ReasonFeedInvalid says that the object could not be understood.
	ReasonFeedInvalid = "Invalid"

	// ReasonFeedUnreadable says that the API server does not answer as it should; what was known of
	// the feed stays.
	ReasonFeedUnreadable = "Unreadable"

	// ReasonAllFeedsParsed says that it is known of all feeds what they need.
	ReasonAllFeedsParsed = "AllParsed"

	// ReasonFeedsMissing says that some feeds could not be read or understood.
	ReasonFeedsMissing = "FeedsMissing"

	// ReasonFeedParserAccepted says that the FeedParser is used.
	ReasonFeedParserAccepted = "Accepted"

	// ReasonFeedParserInvalid says that the rule cannot be used as it is written.
	ReasonFeedParserInvalid = "InvalidRule"

	// ReasonFeedParserShadowed says that an older FeedParser for the same kind is used instead.
	ReasonFeedParserShadowed = "Shadowed"

	// ReasonFeedParserDisputed says that another FeedParser says something else of the same kind.
	ReasonFeedParserDisputed = "ClaimedDifferently"
)

const (
	// ReasonAllPlaced says that a share is decided for all replicas of all feeds.
	ReasonAllPlaced = "AllPlaced"

	// ReasonPodsNotMade says that nobody makes pods for some replicas, so that no room is kept for
	// them any more.
	ReasonPodsNotMade = "PodsNotMade"

	// ReasonNoRoom says that some replicas find no room.
	ReasonNoRoom = "NoRoom"

	// ReasonNoClusters says that the subscribers select no Cluster.
	ReasonNoClusters = "NoClusters"

	// ReasonNoWeight says that all selected Clusters have weight 0.
	ReasonNoWeight = "NoWeight"

	// ReasonInvalidSubscriber says that a selector or weight of the subscribers cannot be used.
	ReasonInvalidSubscriber = "InvalidSubscriber"

	// ReasonBundleWaits says that the feeds of a bundle do not fit at once.
	ReasonBundleWaits = "BundleWaits"

	// ReasonFeedsUnknown says that it is not known of all feeds what they need.
	ReasonFeedsUnknown = "FeedsUnknown"

	// ReasonOtherSubscriptionWins says that an older Subscription places some of the feeds.
	ReasonOtherSubscriptionWins = "OtherSubscriptionWins"

	// ReasonPolicyTaken says that a policy of the name that Berth would write for a feed belongs to
	// somebody else.
	ReasonPolicyTaken = "PolicyTaken"

	// ReasonPodsRefused says that the API server would refuse the pods of a feed.
	ReasonPodsRefused = "PodsRefused"

	// ReasonCopyMissing says that some selected Clusters have no copy of a feed.
	ReasonCopyMissing = "CopyMissing"

	// ReasonAllRunning says that all replicas run.
	ReasonAllRunning = "AllRunning"

	// ReasonReplicasMissing says that some replicas do not run.
	ReasonReplicasMissing = "ReplicasMissing"

	// ReasonPlacesKept says that nothing has lost its place.
	ReasonPlacesKept = "PlacesKept"

	// ReasonClusterLost says that replicas are held by Clusters that left, are not selected any more,
	// or take no pods.
	ReasonClusterLost = "ClusterLost"

	// ReasonNodeLost says that pods of feeds are on nodes that are not ready any more, or gone.
	ReasonNodeLost = "NodeLost"

	// ReasonRoomLost says that replicas which had a place find no room any more.
	ReasonRoomLost = "RoomLost"
)

const (
	// RebalanceAnnotation on a Subscription asks for its feeds to be divided anew, once for each new
	// value. Pods move under the guards of the PropagationPolicies.
	RebalanceAnnotation = "berth.dev/rebalance"

	// DividedAnnotation on a PropagationPolicy of a Subscription tells for how many replicas of the
	// feed it was made, "*" for any number.
	DividedAnnotation = "berth.dev/divided"
)

const (
	// CopyOfLabel on a copy that a Subscription made holds the name of the object it is a copy of, or
	// a hash of a long name.
	CopyOfLabel = "berth.dev/copy-of"

	// CopyClusterLabel on a copy that a Subscription made, and on its pods, names the Cluster that it
	// serves.
	CopyClusterLabel = "berth.dev/copy-cluster"
)

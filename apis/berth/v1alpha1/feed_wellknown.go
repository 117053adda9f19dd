// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

const (
	// SubscriptionParsed is true while it is known of all feeds of a Subscription what they need.
	SubscriptionParsed = "Parsed"

	// InventoryComplete is true while it is known of all feeds of a FeedInventory what they need.
	InventoryComplete = "Complete"

	// FeedParsed is true while it is known what a feed needs.
	FeedParsed = "Parsed"

	// FeedParserAccepted is true while a FeedParser is used.
	FeedParserAccepted = "Accepted"
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

	// ReasonFeedForeignNamespace says that a feed is in another namespace than the Subscription, or in none.
	ReasonFeedForeignNamespace = "ForeignNamespace"

	// ReasonFeedDuplicate says that the Subscription lists the same object twice.
	ReasonFeedDuplicate = "Duplicate"

	// ReasonFeedInvalid says that the object could not be understood.
	ReasonFeedInvalid = "Invalid"

	// ReasonFeedUnreadable says that the API server does not answer as it should; what was known of the feed stays.
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
)

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package feedinventory writes the FeedInventories of Subscriptions that divide dynamically: what
// each feed needs. The condition Parsed of every Subscription reports whether its feeds are
// understood.
//
// Each Subscription is a key of its own. The feeds are followed by watches of their metadata, one
// for each kind that some Subscription lists, which start and stop as kinds come and go; the
// objects themselves are read only when they have changed, and only if there is a parser for their
// kind. A feed that is missing or cannot be understood is named in the status and delays nothing
// else. What others write into an inventory is put right.
//
// FeedParsers, and the definitions of custom resources, make up one registry of parsers. When it
// changes all feeds are read anew.
//
// The package is also what an external controller with parsers of its own is made of; see
// examples/feedinventory-controller.
package feedinventory

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package bundle decides how the feeds of Subscriptions are divided over clusters: what stays of an
// earlier division, what is added, whether a bundle is admitted, and which cluster runs the listed
// object when the others run copies. [Decide] takes plain values and returns plain values; package
// divide divides the replicas of a single feed.
//
// All Subscriptions are decided together, because they compete for the same room. The steps, in
// this order:
//
//	for each Subscription, in the order in which they are served
//	    select    the clusters that count; of subgroups the best ones        (select.go)
//	    lapse     an admission of which nothing runs when its time is over   (admit.go)
//	    keep      what has a node, and what has been promised room before    (keep.go, copies.go)
//	for each admitted bundle, in the same order
//	    hold      what it has lost to nodes that are away              (away.go)
//	for each Subscription, in the same order, but admitted bundles first
//	    grow      a feed that wants more than it keeps                       (grow.go)
//	    admit     a bundle that waits, with all its feeds or not at all      (admit.go)
//
// Everything that was promised is reserved before anything is added, so growth never takes a
// promised place, whatever the priorities are. What an admitted bundle lacks, because a node has
// failed for instance, comes before what others want: half of it may run already. The order of
// clusters and subgroups in the input does not matter; that of Subscriptions and of feeds is the
// order in which they are served.
package bundle

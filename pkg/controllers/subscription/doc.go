// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package subscription divides the replicas of the feeds of Subscriptions over Clusters. What it
// decides it writes twice: into the status of the Subscription, which is also the promise of room
// that other Subscriptions respect, and as one PropagationPolicy for each feed, which the scheduler
// carries out like any other.
//
// There is one key for all, because Subscriptions compete for the same room. A pass is made when
// something has changed, so nothing moves while nothing changes. It goes through three steps:
//
//	gather  Subscriptions and what they name,     (gather.go, clusters.go, feed.go, inventory.go)
//	        from the cache
//	decide  what everybody keeps, gets and        (package placement/bundle; a ledger of the
//	        waits for                             simulator counts room for it)
//	write   policies, copies and the status,      (write.go, policies.go, copies.go, status.go,
//	        and events                            events.go)
//
// A decision changes nothing that was gathered, and writing changes nothing that was decided.
package subscription

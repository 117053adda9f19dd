// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package subscription divides the replicas of the feeds of Subscriptions over Clusters. What it decides it writes twice: into the
// status of the Subscription, which is also the promise of room that other Subscriptions respect, and as one PropagationPolicy for
// each feed, which the scheduler carries out like any other. How replicas are divided is decided in pkg/placement/divide.
//
// One pass looks at all Subscriptions, in the order in which they are served: first the room that has been promised is set aside, then
// what is left is given to those that want more. A pass is made when something has changed, so nothing moves while nothing changes.
package subscription

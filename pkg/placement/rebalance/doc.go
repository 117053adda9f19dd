// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rebalance decides which running pods of one workload leave their place, and in which
// order the others are to go when the workload shrinks.
//
// [Places] gives every pod a place in that order by a seat of the cluster it runs in, so that a
// workload that shrinks lands on its shares without an eviction. [Decide] chooses the pods to
// evict, under guards that hold an eviction back unless it is sure to bring the workload nearer to
// its shares: the pod is misplaced, a cluster that is short of its share would take the replacement
// now, nothing of the workload is pending or being rolled out, and no more replicas are missing
// than the policy allows. One call decides one round; rounds are a cool-down apart.
//
// Everything here is pure: no clients, no clock, no randomness. Equal inputs give equal results,
// whatever their order.
package rebalance

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package apportion decides how the replicas of a workload are shared over
// clusters.
//
// The method is Webster's, also known as Sainte-Laguë: the next seat goes to
// the cluster with the largest weight/(2·seats+1), where seats is what the
// cluster holds already. Ties go to the cluster with fewer seats, then to the
// smaller name. A cluster's minimum is served before anything else, in the same
// order among the clusters below theirs; a cluster at its maximum drops out.
// Minima that have a turn come before the others, turn by turn. Clusters of a
// later tier are served when all of the earlier ones are at their maxima.
//
// Clusters may be in groups: then the groups share the seats by these rules, and
// the clusters of a group share those of the group.
//
// All clusters and weights together define one fixed, endless [Order] of seats,
// and the shares of N replicas are its first N seats. Everything else follows:
//
//   - Scaling up never takes a seat away and scaling down never gives one
//     (house monotonicity; rounding by largest remainder lacks it).
//   - N equal to the sum of the weights gives exactly the weights.
//   - The result depends on weights, bounds and names only, never on the order
//     of the input, on history or on who computes it.
//   - A seat number is a rank: whoever removes replicas from the highest seat
//     downwards lands on the shares of the smaller N at every step.
//
// What Webster's method does not promise: in rare cases a share differs from the
// exact proportion by more than one.
//
// All comparisons are exact, in 128-bit integers. [Order] and [Plan] are
// immutable and safe for concurrent use; [Held] is not.
package apportion

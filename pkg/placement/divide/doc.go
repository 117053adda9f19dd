// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package divide decides how the replicas of one feed of a Subscription are divided over clusters.
// Its strategies:
//
//   - Replication: each cluster runs all replicas.
//   - Static: replicas by the weights that the subscribers give to the clusters (see [Weights]).
//   - Spread: replicas by free capacity.
//   - Binpack: replicas in as few clusters as possible.
//
// Static looks at the weights only and is stateless. Spread and Binpack place the difference
// between what is wanted and what clusters hold already: where nothing changed nothing moves, what
// grows takes nothing away, and what shrinks gives nothing to anybody. They place as many replicas
// as the clusters that may be used can take, and never more in one cluster than it has room for.
//
// Shares in proportion to numbers are made by package apportion. The result depends on the clusters
// and numbers only, not on the order in which clusters are listed; ties go to the smaller name.
package divide

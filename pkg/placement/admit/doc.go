// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package admit decides which clusters of a policy admit a pod. The scheduler
// plugin, the dispatcher and the CLI ask it the same [Question] and get the same
// [Admission].
//
// The narrowest rule that fits the pod comes first:
//
//	FixedSeat   the pod has a number      the cluster that owns its seat
//	BelowShare  replicas are known        clusters that hold fewer than their share
//	ByTurn      replicas are not known    the next cluster in turn with a node that fits
//
// and wider ones follow when no node fits, or an attempt was in vain:
//
//	BelowMax    after ByTurn, if strict   clusters below their maximum
//	OfPolicy    after the first two       all clusters of the policy, unless strict
//	Anywhere    after all, unless strict  every node
//
// Whether a node fits is a fact from outside, and dear to find out. An Admission
// that depends on it is provisional: the caller looks for a cluster that the
// Admission prefers and that has a node that fits, and resolves it with that.
package admit

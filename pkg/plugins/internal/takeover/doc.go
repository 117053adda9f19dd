// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package takeover is what a process that becomes the leader has to find out about the one before:
// what that has given to pods, and what it may still give to them by Bindings that are on their way
// to the API server although its lease has been waited out.
//
// Seed lists the pods once. A pod that had no node in the list may still be bound by a late
// Binding, as long as it has not changed since. Until that is ruled out it is open, and nothing is
// given to others that the late Binding could take:
//
//	the pod in the list        what ends it
//	has no node                settled: it was changed, has gone, or a write has changed it
//	a late Binding has bound   counted: the snapshot of a scheduling cycle shows it
//	has a node, which the      counted, or the pod has gone
//	informer does not show
//
// What pods hold of ClusterResources is kept by package spending; Late keeps the seats.
package takeover

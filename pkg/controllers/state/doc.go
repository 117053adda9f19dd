// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package state is what the controllers of one process know of the cluster: what their cache holds
// of each kind, the latest topology, and the workloads of a namespace. Objects are cut down to what
// the controllers read before they enter the cache: ten thousand pods take a few tens of megabytes
// that way instead of hundreds, and an update that changes nothing of interest looks like no
// change.
package state

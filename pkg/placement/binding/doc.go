// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package binding decides which of several schedulers looks after what: to which one each cluster
// is bound, how a binding changes without two schedulers placing pods on one cluster at a time, and
// what the clusters of a scheduler have together. It knows no API server and no clock.
//
// The recorded binding is the truth. What rendezvous hashing wants changes it in two phases: the
// old scheduler is asked to drain, acknowledges that nothing of its own is under way any more, and
// only then the new one is recorded.
package binding

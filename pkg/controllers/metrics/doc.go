// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package metrics reads the metrics that users define and writes their values where decisions are
// made: into the status of Clusters, clouds and OpenStack projects, and of the metrics themselves.
// It owns the condition MetricsAvailable there, and the conditions Available of metrics and
// Reachable of providers.
//
// The Sampler reads each metric once per interval, however many clusters use it. Nothing else asks
// providers, and nobody waits for it: a provider that hangs delays its own metrics only. The
// Reconciler writes what has changed noticeably, and nothing if nothing has.
//
// When a metric fails its last good value stays, first as it was, and after its maxAge marked as
// stale: then it attracts no application any more, and moves none either.
package metrics

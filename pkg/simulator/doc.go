// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package simulator answers what the scheduler would do, by running the scheduler's own plugins on
// a snapshot. It is the only place outside the scheduler that says what fits where.
//
// A Snapshot is made of objects, from informers or from files. TrySchedule runs one pod through
// PreEnqueue, PreFilter, Filter and Score of a profile. Bind takes up what it found: the pod is
// added to its node and Reserve is run, as the scheduler assumes a pod. Room counts how many copies
// of a pod a cluster takes. Fork, Revert and Commit bracket a what-if.
//
// Nothing is written to an API server and no goroutine decides anything, so equal input gives equal
// output. Not simulated are HTTP extenders, Permit and PreBind; of a plugin that counts on them
// Room says more than the scheduler will bind.
package simulator

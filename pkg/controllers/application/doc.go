// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package application runs Applications: it chooses the best cluster for each, makes its objects, and moves it when another
// cluster has become better by more than moving costs.
//
// A choice stands for rescheduleAfter; nothing but time and a change of the spec brings another one about. It is written into
// the status before anything is done about it. Every object with pods gets a PropagationPolicy that names the chosen cluster,
// so to move is to change policies: the scheduler and the policy controller do the rest.
//
// A Deployment moves without losing a replica. Its policy names both clusters, with the first seats in the new one; then it gets
// as many more replicas as run elsewhere, which all land in the new cluster; and when these are ready it shrinks again, by the
// last seats, which are those of the old cluster. How far that has come is read off the policy and the pods, so it goes on
// after a restart.
package application

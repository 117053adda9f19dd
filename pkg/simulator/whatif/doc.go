// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package whatif works out where pods would run if something was changed.
//
// A Simulation holds objects, of files or of a cluster. Settle lets those take turns who decide in
// a cluster, until nothing changes any more: the controllers that make pods, the division of
// Subscriptions, the choice of clusters for Applications, the scheduler, and the scaling, the
// giving up and the rebalancing of policies. Each turn is a function of the objects: it asks the
// packages that Berth's programs ask, and package simulator for what the scheduler's plugins say.
// There is no clock, no API server and no goroutine, so equal input gives equal output.
//
// What is knowingly simpler than a cluster: a rollout replaces all pods at once; who is preempted
// is gone at once; pods are ready as soon as they have a node, unless they came with another
// status; pods of other schedulers are placed by the same plugins, without a policy; a CronJob
// makes a Job only when it is told to; what webhooks do is not known.
package whatif

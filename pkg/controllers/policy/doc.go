// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package policy carries out what PropagationPolicies want of pods that run already: it reports in
// the status how the replicas of each workload are shared out, keeps the seats and deletion costs
// of the pods in step with the policy, and evicts the pods that the policy no longer wants where
// they are.
//
// There is one key for each namespace, because which policy places which workload is a question of
// all policies and workloads of a namespace at once. A pass goes through these steps:
//
//	gather    what exists, from the cache                         (pass.go)
//	assess    who places what, what is where, what is misplaced   (assess.go)
//	release   seats and deletion costs of policies that are gone  (release.go)
//	restamp   new seats and deletion costs                        (restamp.go)
//	move      one round of evictions for each workload            (move.go, rebalance)
//	report    status, conditions, events, metrics                 (status.go, conditions.go)
//
// A change that concerns the pods of one policy alone, all of which are where they should be, is no
// reason for a pass: a glance at that policy shows that they still are (glance.go).
//
// The decision to evict is made twice: on the cache, and, if that wants evictions, again on what
// the API server says at that moment. Only pods that both name are evicted.
package policy

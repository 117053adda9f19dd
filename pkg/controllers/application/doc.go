// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package application runs Applications: it chooses the best cluster for each, makes its objects,
// and moves it when another cluster has become better by more than moving costs.
//
// A choice stands for rescheduleAfter; nothing but time and a change of the spec brings another one
// about. Every object with pods gets a PropagationPolicy that names the chosen cluster, so to move
// is to change policies: the scheduler and the policy controller do the rest. How a workload moves
// without losing a replica is described in package migrate.
//
// A pass over an Application goes through these steps:
//
//	read    its policies, and their pods by cluster                (read.go)
//	parse   the manifests, made ready to be applied                (manifests.go)
//	decide  if it is time to: the cluster, of those that have room (decide.go, room.go, rank,
//	        for all of its pods                                    migrate)
//	list    in the status, what is to be made: what is not listed  (controller.go)
//	        could not be deleted later
//	bring   for each object: what is live, the next step of a      (bring.go, migrate)
//	        move, and then its policy, its replicas and the        (policy.go, write.go)
//	        object itself
//	prune   what is in the spec no more                            (write.go)
//	report  whether everything runs                                (controller.go)
package application

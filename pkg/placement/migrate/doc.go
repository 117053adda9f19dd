// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package migrate decides how an application moves from one cluster to another: whether it moves at
// all (Choose), what each of its workloads needs next (Next), and how far a workload is (Progress).
// It knows no API server and no clock. How far a move has come is read off the policy and the pods,
// so nothing is lost with the process that moves it.
//
// A workload whose replicas are interchangeable moves start-first, without ever having fewer of
// them available. With the target madrid, berlin as the cluster where it runs, and 2 replicas:
//
//	what is seen                      policy asked for      replicas  because
//	it runs in berlin                 madrid min 2, berlin  2
//	not everybody has seen this       madrid min 2, berlin  2         a third could land in berlin
//	policy
//	everybody has seen it             madrid min 2, berlin  4         all new ones land in madrid
//	2 are ready in madrid and have    madrid min 2, berlin  2         the replicas of berlin go
//	the low seats                                                     first
//	nothing runs in berlin any more   madrid                2         it has moved
//
// Every state has a way back: if the target becomes berlin again, the two clusters change places
// and the same table holds. Other workloads get a policy that names the target alone, and the
// policy controller moves them pod by pod.
package migrate

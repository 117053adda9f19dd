// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package migrate decides how an application moves from one cluster to another: whether it moves at
// all (Choose), what each of its workloads needs next (Next), how far a workload is (Progress), and
// whether a move goes on (Review). It knows no API server and no clock. How far a workload has come
// is read off its policy and its pods, and the move stands in the status of the application, so
// nothing is lost with the process that moves it.
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
// Replicas that have to be ready for some time until they serve get the high seats at first: the
// policy is "madrid min 2, berlin 2 replicas" until all new ones serve, so that whoever lowers the
// number of replicas meanwhile takes none that does, and the one of the table from then on.
//
// Every state has a way back: if the target becomes berlin again, the two clusters change places
// and the same table holds. With a surge below the replicas wanted the target is given its share in
// parts, each with a max beside the min, and the table is gone through once for each part. Replicas
// beyond those wanted that a move which was given up has left go before others start. A workload
// that stops first shrinks to none in berlin, gets the policy of madrid when its last pod
// has ended, and grows when everybody has seen that. Other workloads get a policy that names the
// target alone, and the policy controller moves them pod by pod.
//
// Above the workloads stands the move of the application (Review), which is as far as the workload
// that has come least far (Stage):
//
//	         everybody has     all new pods       all new pods      nothing runs
//	         seen the policy   have a node        are available     elsewhere
//	Prepare -----------> Start ---------> Available --------> Shrink ---------> Done
//	   |                   |                  |
//	   | deadline          | deadline         | deadline
//	   |                   | no node for 30 s |
//	   +-------------------+------------------+-----> given up: the target is left out, and the
//	                                                  origin is the target again. If it does not
//	                                                  suit any more the next best one is, or the
//	                                                  new half becomes whole where it is.
//
// Shrink has no way back by itself, since the new half is available and the old one going. What
// becomes of a move if something happens on the way, for everything that may happen in every step,
// is told in docs/tasks/run-applications.md.
package migrate

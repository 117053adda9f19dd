// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package spending keeps a process that is one of several schedulers to what it was granted of ClusterResources, and finds out
// what pods hold that processes before it have bound.
//
// The process and the controller of grants exchange these messages in the status of their objects:
//
//	message  from        where                                         meaning
//	grant    controller  ClusterResource grants: quantity, revision    the Scheduler may charge so much of the pool
//	shrink   controller  the same with shrinkTo                        it is to charge nothing beyond shrinkTo
//	limit    Scheduler   Scheduler spending: revision, limit           its pods hold so much, or shrinkTo if that is more;
//	                                                                   under this revision they will not hold more
//	excess   Scheduler   the same, with or without a revision          its pods hold more of the pool than it was granted
//	demand   Scheduler   the same with wanted, least, priority, since  what its pods that wait want, and who is first
//	closed   Scheduler   Scheduler spending: closed                    it is being deleted and binds no pod any more
//	alone    Scheduler   no spending                                   it keeps to no grants: nobody may be granted anything
package spending

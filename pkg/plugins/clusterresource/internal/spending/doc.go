// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package spending keeps a process that is one of several schedulers to what it was granted of
// ClusterResources, and finds out what pods hold that processes before it have bound.
//
// The process and the controller of grants exchange these messages in the status of their objects:
//
//	message  from        in               meaning
//	grant    controller  grants           the Scheduler may charge quantity of the pool
//	shrink   controller  grants.shrinkTo  it is to charge nothing beyond shrinkTo
//	limit    Scheduler   spending.limit   its pods hold so much, or shrinkTo if that is more, and
//	                                      will not hold more under this revision of the grant
//	excess   Scheduler   spending.limit   its pods hold more of the pool than it was granted
//	demand   Scheduler   spending.wanted  so much would serve its pods that wait; least, priority
//	                                      and since are those of the smallest and of the first
//	closed   Scheduler   spending.closed  it is being deleted and binds no pod any more
//	alone    Scheduler   no spending      it keeps to no grants: nobody may be granted anything
//
// Grants are in the status of ClusterResources, spending in that of Schedulers.
package spending

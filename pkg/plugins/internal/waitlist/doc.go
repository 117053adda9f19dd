// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package waitlist chooses which of many waiting pods is tried when something becomes free, so that
// not all are tried in vain and held back for it: a place in the shares of a policy (List), or
// units of the pools of ClusterResources (Units).
//
// A List gives each place to the first pod that has none, until its outcome is known. The Units
// keep to these rules:
//
//   - Whatever becomes free is a change. It is offered to as many pods as it can serve, in the
//     order of the queue: the higher priority first, then the older.
//   - A pod that has been tried in vain since a change is not tried for it again. The next one in
//     order is tried at once, as soon as the attempt has ended. So each pod costs each change one
//     attempt at most, and whoever fits is reached, whoever waits before it.
//   - Nothing is kept of a pod that is gone, is bound or asks for something else.
//
// A pod that waits for units is in one of these states:
//
//	state    event                                    next     effect
//	unknown  Rejected                                 asleep   it is put in order
//	asleep   a change that it was not tried for       offered  it is woken, and what it needs is
//	                                                           kept from those behind it
//	asleep   the scheduler tries it by itself         tried    likewise, as long as the attempt lasts
//	offered  its scheduling cycle finds enough        tried    it keeps what it needs
//	offered,
//	tried    Rejected, Ended: the attempt failed      asleep   the changes that it saw are done for it;
//	                                                           the next pod is offered what it leaves
//	offered,
//	tried    a plugin keeps it out of the queue; or   asleep   likewise
//	         nothing is heard of it for OfferTimeout
//	any      Reserved: it got what it asked for       unknown  what it took is not free
//	any      Drop: it is bound, gone or changed       unknown  the next pod is offered what it leaves
//
// A pod that got what it asked for and gave it back without being bound, as the members of a gang
// do that cannot be completed, is offered nothing for a second, then for two, and so on.
//
// An attempt sees the changes that came before it began. One that comes while it lasts is not done
// for the pod when it fails: it is offered the change again.
package waitlist

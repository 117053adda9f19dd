// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package waitlist chooses which of many waiting pods is tried when something becomes free, so that
// not all are tried in vain and held back for it: a place in the shares of a policy (List), or
// units of the pools of ClusterResources (Units).
//
// Both keep to these rules:
//
//   - Whatever becomes free is offered to as many pods as it can serve, in the order of the queue:
//     the higher priority first, then the older.
//   - A pod that has been tried in vain for it is not tried for it again. The next one in order is
//     tried at once, as soon as the attempt has ended. So each pod costs whatever becomes free one
//     attempt at most, and whoever fits is reached, whoever waits before it.
//   - Nothing is kept of a pod that is gone, is bound or asks for something else.
//
// A pod that waits is in one of these states:
//
//	state    event                                    next     effect
//	unknown  Rejected                                 asleep   it is put in order
//	asleep   something that it was not tried for      offered  it is woken, and what it needs is
//	         becomes free                                      kept from those behind it
//	asleep   the scheduler tries it by itself         tried    likewise, as long as the attempt lasts
//	offered  its scheduling cycle finds enough        tried    it keeps what it needs
//	offered,
//	tried    Rejected, Ended: the attempt failed      asleep   what it saw free is done for it; the
//	                                                           next pod is offered what it leaves
//	offered,
//	tried    Again, then Ended: the attempt looked    as it    it keeps what it needs until the next
//	         at some nodes, another follows           was      attempt has ended
//	offered,
//	tried    a plugin keeps it out of the queue; or   asleep   as after a failed attempt
//	         nothing is heard of it for OfferTimeout
//	any      Placed, Reserved: it got what it         unknown  what it took is not free; what it was
//	         asked for                                         offered instead goes to the next pod
//	any      Drop: it is bound, gone or changed       unknown  the next pod is offered what it leaves
//
// The scheduler tells a List of a place only when the attempt has ended, so there a pod is never
// tried: it is offered a place until then.
//
// A pod that got units and gave them back without being bound, as the members of a gang do that
// cannot be completed, is offered nothing for a second, then for two, and so on.
//
// An attempt sees what became free before it began. What becomes free while it lasts is not done
// for the pod when it fails: it is offered that again.
package waitlist

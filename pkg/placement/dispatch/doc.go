// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package dispatch decides which of several schedulers is to place a waiting pod: its
// home. It knows no API server and no clock; facts of nodes come in as sets of schedulers.
//
// A [Round] decides on all pods that wait, one after the other, so that each decision
// counts in the next one. The first line that applies to a pod decides:
//
//	fixed seat    the home of the cluster that owns the seat of the pod
//	free seat     its own home if it has a free seat, else the home with most free seats
//	turn          its own home until that was in vain, else the home of the cluster in turn
//	gang          the home of the gang
//	present home  as long as it is eligible, and was not in vain or is the only one
//	best home     of those eligible, with room if one has it, see [choose]
//
// The first three are for pods with a policy and come from [Seats].
package dispatch

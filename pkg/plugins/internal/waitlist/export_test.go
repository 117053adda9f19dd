// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package waitlist

// Compare puts pods in the order of the queue.
var Compare = comparePods

// PassOn passes on the places of pods that have not been tried in time.
func (l *List) PassOn() { l.passOn() }

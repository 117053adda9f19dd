// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package waitlist

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Compare puts pods in the order of the queue.
var Compare = comparePods

// PassOn passes on the places of pods that have not been tried in time.
func (l *List) PassOn() { l.passOn() }

// Lapse offers to others what nothing is heard of any longer.
func (w *Units) Lapse() { w.lapse() }

// Chosen returns the pods that are to be woken.
func (w *Units) Chosen() []*corev1.Pod { return w.takeChosen() }

// Held notes that a pod is kept out of the queue.
func (w *Units) Held(pod types.UID) { w.keepOut(pod) }

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package waitlist

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Compare puts pods in the order of the queue.
var Compare = comparePods

// Lapse offers to others what nothing is heard of any longer.
func (l *List) Lapse() { l.lapse() }

// Chosen returns the pods that are to be woken.
func (l *List) Chosen() []*corev1.Pod { return l.takeChosen() }

// Held notes that a pod is kept out of the queue.
func (l *List) Held(pod types.UID) { l.keepOut(pod) }

// Kept returns of how many pods something is kept.
func (l *List) Kept() int { return len(l.pods) + len(l.lines) + len(l.calls.pods) }

// Lapse offers to others what nothing is heard of any longer.
func (w *Units) Lapse() { w.lapse() }

// Chosen returns the pods that are to be woken.
func (w *Units) Chosen() []*corev1.Pod { return w.takeChosen() }

// Held notes that a pod is kept out of the queue.
func (w *Units) Held(pod types.UID) { w.keepOut(pod) }

// Kept returns of how many pods something is kept.
func (w *Units) Kept() int { return len(w.pods) + len(w.order) + len(w.calls.pods) + len(w.returns) }

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/berth/pkg/model/workload"
)

// maxTold bounds the memory of told.
const maxTold = 4096

// eventOwnerUnconfirmed is the reason of the event by which a pod learns that the chain of its
// controllers ends early.
const eventOwnerUnconfirmed = "OwnerUnconfirmed"

// told are the pods that have been told of something, so that each is told once. It is safe for
// concurrent use.
type told struct {
	mu   sync.Mutex
	pods map[types.UID]struct{}
}

// first reports whether the pod has not been told yet.
func (t *told) first(pod types.UID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, again := t.pods[pod]; again {
		return false
	}
	if t.pods == nil || len(t.pods) >= maxTold {
		t.pods = map[types.UID]struct{}{}
	}
	t.pods[pod] = struct{}{}
	return true
}

// tellCut tells a pod by an event that one of its controllers cannot be confirmed, so that no
// policy on that or on what is above it counts. Events are sent in the background.
func (p *NodeGroupPolicy) tellCut(pod *corev1.Pod, cut *metav1.OwnerReference) {
	recorder := p.handle.EventRecorder()
	if recorder == nil || !p.shared.told.first(pod.UID) {
		return
	}
	recorder.Eventf(pod, nil, corev1.EventTypeWarning, eventOwnerUnconfirmed, "Scheduling",
		"policies on %.63s %.253s and what is above it do not count for the pod: %s", cut.Kind, cut.Name, workload.WhyCut(pod, cut, p.shared.Owners))
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Retries remembers pods that found no room in the clusters whose turn it is and are to be tried in the others. It is safe
// for concurrent use. What it forgets in a restart is found out again.
type Retries struct {
	mu   sync.Mutex
	pods map[types.UID]struct{}
}

// NewRetries returns an empty set.
func NewRetries() *Retries {
	return &Retries{pods: map[types.UID]struct{}{}}
}

// Add remembers a pod.
func (r *Retries) Add(pod types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pods[pod] = struct{}{}
}

// Has reports whether a pod is remembered.
func (r *Retries) Has(pod types.UID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, found := r.pods[pod]
	return found
}

// Drop forgets a pod.
func (r *Retries) Drop(pod types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.pods, pod)
}

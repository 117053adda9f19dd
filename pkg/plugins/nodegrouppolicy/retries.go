// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Retries remembers pods that found no room where they were tried first and are to be tried
// elsewhere. It is safe for concurrent use. What it forgets in a restart is found out again.
type Retries struct {
	mu   sync.Mutex
	pods map[types.UID]retry
}

// retry is how a pod is to be tried.
type retry struct {
	beyond, thorough bool
}

// NewRetries returns an empty set.
func NewRetries() *Retries {
	return &Retries{pods: map[types.UID]retry{}}
}

// Add remembers a pod that is to be tried once in clusters whose turn it is not, or beyond the
// shares of its policy.
func (r *Retries) Add(pod types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pods[pod] = retry{beyond: true, thorough: true}
}

// beyond reports whether Add remembers a pod.
func (r *Retries) beyond(pod types.UID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pods[pod].beyond
}

// fail notes that a pod found no room beyond either, so that it is tried where it should go first
// once something has changed.
func (r *Retries) fail(pod types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, found := r.pods[pod]; found {
		known.beyond = false
		r.pods[pod] = known
	}
}

// AddThorough remembers a pod that is to be tried on all nodes that may take it instead of a
// sample.
func (r *Retries) AddThorough(pod types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.pods[pod]
	known.thorough = true
	r.pods[pod] = known
}

// Thorough reports whether a pod is to be tried on all nodes that may take it.
func (r *Retries) Thorough(pod types.UID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pods[pod].thorough
}

// Drop forgets a pod.
func (r *Retries) Drop(pod types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.pods, pod)
}

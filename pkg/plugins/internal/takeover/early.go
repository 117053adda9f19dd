// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Early are the pods that came to the queue while that was being filled with what there is when a
// process starts. To hold them back then would cost much: the queue goes through all pods that are
// held back whenever it hears of one that runs, and it hears of every one of them. Nothing is
// scheduled before it is filled, so they are let in, and looked at when they come out. It is safe
// for concurrent use.
type Early struct {
	filled func() bool
	done   atomic.Bool
	count  atomic.Int64
	mu     sync.Mutex
	pods   map[types.UID]struct{}
}

// NewEarly lets nobody in before Fill is called.
func NewEarly() *Early {
	e := &Early{pods: map[types.UID]struct{}{}}
	e.done.Store(true)
	return e
}

// Fill lets pods in until filled reports that everybody who was there has been seen. It must be
// called before the first of them comes.
func (e *Early) Fill(filled func() bool) {
	e.filled = filled
	e.done.Store(false)
}

// Lets reports whether a pod is to be let in although it may have to be held back.
func (e *Early) Lets(pod *corev1.Pod) bool {
	if e.done.Load() {
		return false
	}
	if e.filled() {
		e.done.Store(true)
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pods[pod.UID] = struct{}{}
	e.count.Store(int64(len(e.pods)))
	return true
}

// Take reports whether a pod was let in, and forgets that.
func (e *Early) Take(pod types.UID) bool {
	if e.count.Load() == 0 {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	_, was := e.pods[pod]
	delete(e.pods, pod)
	e.count.Store(int64(len(e.pods)))
	return was
}

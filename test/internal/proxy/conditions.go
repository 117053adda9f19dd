// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

// patience is how long a write of conditions waits for a Binding of its pod at most.
const patience = 10 * time.Second

// conditions are the writes of conditions of pods that are held back.
type conditions struct {
	mu      sync.Mutex
	holding bool
	met     int
	held    map[string]*heldWrite
}

// heldWrite is a write that waits until a Binding of its pod has come, which waits until the write
// is delivered.
type heldWrite struct {
	release, delivered chan struct{}
}

// HoldConditions holds back each write of conditions of a pod until the next Binding of that pod
// comes, and delivers it just before: the Binding then has an older version than the pod.
func (p *Proxy) HoldConditions() {
	p.conditions.mu.Lock()
	defer p.conditions.mu.Unlock()
	p.conditions.holding, p.conditions.held = true, map[string]*heldWrite{}
}

// Held returns how many writes met a Binding in this way.
func (p *Proxy) Held() int {
	p.conditions.mu.Lock()
	defer p.conditions.mu.Unlock()
	return p.conditions.met
}

// wait holds a write back if it is one of conditions. The function that it returns must be called
// when the write is delivered.
func (c *conditions) wait(r *http.Request, pod string) (delivered func()) {
	c.mu.Lock()
	holding := c.holding
	c.mu.Unlock()
	if !holding || r.Method != http.MethodPatch {
		return func() {}
	}
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil || !bytes.Contains(body, []byte(`"conditions"`)) {
		return func() {}
	}
	write := &heldWrite{release: make(chan struct{}), delivered: make(chan struct{})}
	c.mu.Lock()
	c.held[pod] = write
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	select {
	case <-write.release:
	case <-ctx.Done():
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.held[pod] == write {
			delete(c.held, pod)
		}
		close(write.delivered)
	}
}

// deliver lets a write go that a Binding of its pod meets, and returns when it is delivered.
func (c *conditions) deliver(pod string) {
	c.mu.Lock()
	write := c.held[pod]
	if write == nil {
		c.mu.Unlock()
		return
	}
	delete(c.held, pod)
	c.met++
	c.mu.Unlock()
	close(write.release)
	<-write.delivered
}

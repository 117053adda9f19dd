// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// tryAgain is how long it is not tried anew what would let a pod run.
	tryAgain = 10 * time.Second
	// tryTimeout bounds one trial, which reads much.
	tryTimeout = 2 * time.Minute
	// maxTried bounds the pods of which it is remembered.
	maxTried = 50
)

// Remedies are what would let a pod run.
type Remedies struct {
	// Heading stands above the rows.
	Heading string
	Rows    []Remedy
	// Says are sentences about what the rows do not tell.
	Says []string
}

// Remedy is what has to change together for a pod to run on a node of a Cluster.
type Remedy struct{ Cluster, Node, Change string }

// remedies tries what would let pods run, one after the other and only for those that somebody
// looks at: unlike the rest of a page it takes reading all pods.
type remedies struct {
	ctx  context.Context //nolint:containedctx // it outlives the requests for pages
	find func(ctx context.Context, namespace, name string) (*Remedies, error)
	// tell is called when a page says something else than before.
	tell func()
	// changes counts those of the objects that are watched.
	changes atomic.Uint64

	mu sync.Mutex
	// running is set during a trial, waiting while a page will ask for the next one.
	running, waiting bool
	known            map[string]*tried
}

// tried is what was found for a pod.
type tried struct {
	at      time.Time
	changes uint64
	found   *Remedies
	err     error
}

// of returns what was found last for a pod, nil if nothing was. If something has changed since, it
// is tried anew, but not at once again.
func (r *remedies) of(namespace, name string) *tried {
	key := namespace + "/" + name
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.known[key]
	if r.running || last != nil && last.changes == r.changes.Load() {
		return last
	}
	if last != nil {
		if left := tryAgain - time.Since(last.at); left > 0 {
			r.tellAfter(left)
			return last
		}
	}
	r.running = true
	go r.try(namespace, name, key)
	return last
}

// tellAfter makes pages ask again after a while. It is called with the lock.
func (r *remedies) tellAfter(left time.Duration) {
	if r.waiting {
		return
	}
	r.waiting = true
	time.AfterFunc(left, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.waiting = false
		r.tell()
	})
}

func (r *remedies) try(namespace, name, key string) {
	ctx, cancel := context.WithTimeout(r.ctx, tryTimeout)
	defer cancel()
	began := r.changes.Load()
	found, err := r.find(ctx, namespace, name)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.known) >= maxTried {
		clear(r.known)
	}
	r.known[key] = &tried{at: time.Now(), changes: began, found: found, err: err}
	r.running = false
	r.tell()
}

// wouldRun adds to the page of a pod what would let it run.
func (s *snapshot) wouldRun(p *page, namespace, name string) {
	if s.remedies.find == nil {
		p.Reasons = append(p.Reasons, fmt.Sprintf("what would let it run now is told by: berthctl explain pod %s --namespace %s", name, namespace))
		return
	}
	switch last := s.remedies.of(namespace, name); {
	case last == nil:
		p.Reasons = append(p.Reasons, "what would let it run now is being worked out")
	case last.err != nil:
		p.Reasons = append(p.Reasons, "what would let it run now cannot be worked out: "+bounded(last.err.Error()))
	default:
		p.Reasons = append(p.Reasons, last.found.Says...)
		s.addRemedies(p, last)
	}
}

func (s *snapshot) addRemedies(p *page, last *tried) {
	if len(last.found.Rows) == 0 {
		return
	}
	t := &table{ID: "remedies", Caption: last.found.Heading + ", as of " + clockTime(last.at), Columns: []column{
		{Key: "site", Title: "Site"}, {Key: "node", Title: "Node"}, {Key: "change", Title: "Change"},
	}}
	for _, r := range last.found.Rows {
		t.Rows = append(t.Rows, row{s.siteCell(r.Cluster), text(r.Node), text(r.Change)})
	}
	p.Tables = append(p.Tables, t)
}

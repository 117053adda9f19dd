// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/model/workload"
)

const (
	// quiet is how long a change is held back for others that come with it.
	quiet = 300 * time.Millisecond

	// staleAfter is how long a watch may be interrupted before what it knows counts as outdated. A
	// watch that ends in the ordinary way begins again at once.
	staleAfter = 3 * time.Second
)

// idLength is the length of what tells Sources apart.
const idLength = 8

// Clients read with the rights of one user.
type Clients struct {
	Kubernetes kubernetes.Interface
	Berth      versioned.Interface
	// Config is how owners of operators' kinds are looked up. If it is nil, the references of pods to
	// them are taken at their word.
	Config *rest.Config
	// Remedies tries what would let a pod run that waits. If it is nil, pages tell which command does.
	Remedies func(ctx context.Context, namespace, name string) (*Remedies, error)
	// Alerts and Checks tell what is wrong with Berth itself. If one is nil, pages tell which command
	// does.
	Alerts func(ctx context.Context) ([]Alert, error)
	Checks func(ctx context.Context) *Checks
}

// Source watches what the pages show, with the rights of one user. It is safe for concurrent use.
type Source struct {
	namespace  string
	schedulers []string
	kinds      map[string]*kind
	// further looks up owners of operators' kinds.
	further workload.FurtherSource
	// changes counts those of the objects that are watched.
	changes atomic.Uint64
	// remedies are those of the pods whose pages are looked at, health is that of Berth itself.
	remedies *lookups[*Remedies]
	health   health
	// ended is closed when nothing is watched any more.
	ended <-chan struct{}

	// id tells the versions of different Sources apart.
	id string

	mu sync.Mutex
	// version counts the changes, changed is closed at the next one.
	version uint64
	changed chan struct{}
	// pending is set while a change is held back.
	pending bool
	// latest is the snapshot of builtOf.
	latest  *snapshot
	builtOf uint64
}

// NewSource watches the objects of a namespace, or of all if it is empty, until the context ends.
// No schedulers stand for Berth's own profile. What the user may not read is left out, and the
// pages say so.
func NewSource(ctx context.Context, clients Clients, namespace string, schedulers []string) (*Source, error) {
	s := &Source{
		namespace: namespace, schedulers: schedulers, ended: ctx.Done(), id: rand.Text()[:idLength], changed: make(chan struct{}), version: 1,
	}
	var err error
	if s.further, err = lookUpOwners(ctx, clients, namespace, s.signal); err != nil {
		return nil, err
	}
	s.remedies, s.health = s.remediesOf(ctx, clients.Remedies), s.healthOf(ctx, &clients)
	s.kinds = watchedKinds(clients.Kubernetes, clients.Berth, namespace, func() {
		s.changes.Add(1)
		s.signal()
	})
	for _, k := range s.kinds {
		k.start(ctx)
	}
	go s.noticeStaleness(ctx)
	return s, nil
}

// signal notes a change, and wakes those that wait for one a moment later.
func (s *Source) signal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending {
		return
	}
	s.pending = true
	time.AfterFunc(quiet, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.pending = false
		s.version++
		close(s.changed)
		s.changed = make(chan struct{})
	})
}

// next returns what tells the present version from all others, and a channel that is closed at the
// next change.
func (s *Source) next() (version string, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.title(), s.changed
}

// title is called with the lock.
func (s *Source) title() string { return fmt.Sprintf("%s-%d", s.id, s.version) }

// snapshot returns what is known at present.
func (s *Source) snapshot() *snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.latest == nil || s.builtOf != s.version {
		s.latest, s.builtOf = newSnapshot(s), s.version
	}
	return s.latest
}

// noticeStaleness signals when something becomes outdated, which nothing else tells.
func (s *Source) noticeStaleness(ctx context.Context) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for last := (time.Time{}); ; {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if since := s.staleSince(); !since.Equal(last) {
			last = since
			s.signal()
		}
	}
}

// staleSince returns since when something is outdated, the zero time if nothing is.
func (s *Source) staleSince() time.Time {
	var earliest time.Time
	for _, k := range s.kinds {
		since := k.interrupted()
		if since.IsZero() || time.Since(since) < staleAfter {
			continue
		}
		if earliest.IsZero() || since.Before(earliest) {
			earliest = since
		}
	}
	return earliest
}

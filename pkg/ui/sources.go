// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/clock"
)

// idle is after how long without a request a Source ends. A stream asks more often.
const idle = 2 * streamTime

// ErrTooMany says that as many Sources are open as may be.
var ErrTooMany = errors.New("too many others are looking at present, try again in some minutes")

// Key tells Sources apart.
type Key struct {
	// Viewer is who looks, by whom Sources are bounded: somebody may have any number of credentials.
	Viewer string
	// Credentials stand for the rights with which is read, Namespace for what.
	Credentials, Namespace string
}

// Sources keeps a Source for each viewer and namespace as long as somebody looks. It is safe for
// concurrent use.
type Sources struct {
	// Most is how many there may be at once, MostEach how many of one viewer. Whoever has so many
	// loses the one that was asked for least lately.
	Most, MostEach int
	// Clock is the real one if nil.
	Clock clock.WithDelayedExecution

	mu   sync.Mutex
	open map[Key]*opened
}

type opened struct {
	source *Source
	end    context.CancelFunc
	used   time.Time
	timer  clock.Timer
}

// Get returns the Source of a key, and opens it if there is none. It lasts until nobody has asked
// for it for some minutes, or the context ends. The error is that of open, or ErrTooMany.
func (s *Sources) Get(ctx context.Context, key Key, open func(context.Context) (*Source, error)) (*Source, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock().Now()
	if found := s.open[key]; found != nil {
		found.used = now
		return found.source, nil
	}
	if own, oldest := s.of(key.Viewer); len(s.open) >= s.Most || own >= s.MostEach {
		if own == 0 {
			return nil, ErrTooMany
		}
		s.close(oldest)
	}
	ctx, end := context.WithCancel(ctx)
	source, err := open(ctx)
	if err != nil {
		end()
		return nil, err
	}
	if s.open == nil {
		s.open = map[Key]*opened{}
	}
	made := &opened{source: source, end: end, used: now}
	s.open[key] = made
	s.endWhenIdle(key, made, idle)
	return source, nil
}

// End ends all Sources with the rights of some credentials, because their owner has left.
func (s *Sources) End(credentials string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.open {
		if key.Credentials == credentials {
			s.close(key)
		}
	}
}

// of returns how many Sources a viewer has, and which of them was asked for least lately.
func (s *Sources) of(viewer string) (count int, oldest Key) {
	for key, o := range s.open {
		if key.Viewer != viewer {
			continue
		}
		if count == 0 || o.used.Before(s.open[oldest].used) {
			oldest = key
		}
		count++
	}
	return count, oldest
}

func (s *Sources) close(key Key) {
	s.open[key].timer.Stop()
	s.open[key].end()
	delete(s.open, key)
}

// endWhenIdle ends a Source after a while, if nobody has asked for it meanwhile.
func (s *Sources) endWhenIdle(key Key, o *opened, after time.Duration) {
	// The timers of a clock in tests call while they hold a lock of the clock.
	o.timer = s.clock().AfterFunc(after, func() { go s.checkIdle(key, o) })
}

func (s *Sources) checkIdle(key Key, o *opened) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[key] != o {
		return
	}
	if left := idle - s.clock().Since(o.used); left > 0 {
		s.endWhenIdle(key, o, left)
		return
	}
	s.close(key)
}

func (s *Sources) clock() clock.WithDelayedExecution {
	if s.Clock == nil {
		return clock.RealClock{}
	}
	return s.Clock
}

// NamespaceOf returns the namespace that a browser has chosen to see, or the given one if it has
// chosen none. Empty stands for all.
func (h *Handler) NamespaceOf(r *http.Request, otherwise string) string {
	cookie, err := r.Cookie(h.NamespaceCookie)
	if err != nil || cookie.Value != "" && len(validation.IsDNS1123Label(cookie.Value)) > 0 {
		return otherwise
	}
	return cookie.Value
}

// chooseNamespace remembers the namespace of the query, and leads to the first page.
func (h *Handler) chooseNamespace(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("name")
	if name != "" && len(validation.IsDNS1123Label(name)) > 0 {
		http.Error(w, "this is no name of a namespace", http.StatusBadRequest)
		return
	}
	//nolint:gosec // it holds no secret, and berthctl ui speaks plain HTTP on loopback
	http.SetCookie(w, &http.Cookie{
		Name: h.NamespaceCookie, Value: name, Path: Prefix, HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
	})
	http.Redirect(w, r, Prefix, http.StatusFound)
}

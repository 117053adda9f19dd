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
)

const (
	// idle is after how long without a request a Source ends. A stream asks more often.
	idle = 2 * streamTime

	// namespaceCookie remembers which namespace a browser shows.
	namespaceCookie = "berth-namespace"
)

// ErrTooMany says that as many Sources are open as may be.
var ErrTooMany = errors.New("too many others are looking at present, try again in some minutes")

// Sources keeps a Source for each viewer and namespace as long as somebody looks. It is safe for
// concurrent use.
type Sources struct {
	// Most is how many there may be at once.
	Most int

	mu   sync.Mutex
	open map[string]*opened
}

type opened struct {
	source *Source
	end    context.CancelFunc
	used   time.Time
}

// Get returns the Source of a key, and opens it if there is none. It lasts until nobody has asked
// for it for some minutes, or the context ends. The error is that of open, or ErrTooMany.
func (s *Sources) Get(ctx context.Context, key string, open func(context.Context) (*Source, error)) (*Source, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for other, o := range s.open {
		if now.Sub(o.used) > idle {
			o.end()
			delete(s.open, other)
		}
	}
	if found := s.open[key]; found != nil {
		found.used = now
		return found.source, nil
	}
	if len(s.open) >= s.Most {
		return nil, ErrTooMany
	}
	ctx, end := context.WithCancel(ctx)
	source, err := open(ctx)
	if err != nil {
		end()
		return nil, err
	}
	if s.open == nil {
		s.open = map[string]*opened{}
	}
	s.open[key] = &opened{source: source, end: end, used: now}
	return source, nil
}

// NamespaceOf returns the namespace that a browser has chosen to see, or the given one if it has
// chosen none. Empty stands for all.
func NamespaceOf(r *http.Request, otherwise string) string {
	cookie, err := r.Cookie(namespaceCookie)
	if err != nil || cookie.Value != "" && len(validation.IsDNS1123Label(cookie.Value)) > 0 {
		return otherwise
	}
	return cookie.Value
}

// chooseNamespace remembers the namespace of the query, and leads to the first page.
func chooseNamespace(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("name")
	if name != "" && len(validation.IsDNS1123Label(name)) > 0 {
		http.Error(w, "this is no name of a namespace", http.StatusBadRequest)
		return
	}
	//nolint:gosec // it holds no secret, and berthctl ui speaks plain HTTP on loopback
	http.SetCookie(w, &http.Cookie{
		Name: namespaceCookie, Value: name, Path: Prefix, HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
	})
	http.Redirect(w, r, Prefix, http.StatusFound)
}

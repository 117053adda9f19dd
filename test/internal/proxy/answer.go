// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"io"
	"net/http"
	"time"
)

// refuse gives an answer that does not depend on what happens to the request, and reports whether
// it has.
func refuse(w http.ResponseWriter, answer Answer) bool {
	switch answer {
	case Unavailable:
		http.Error(w, "unavailable", http.StatusServiceUnavailable)
	case Broken:
		http.Error(w, "broken", http.StatusInternalServerError)
	case TimedOut:
		http.Error(w, "timed out", http.StatusGatewayTimeout)
	case Cut:
		cut(w)
	default:
		return false
	}
	return true
}

// disturbance says what becomes of any request, until it is over.
type disturbance struct {
	decide func(*http.Request) Fate
	over   chan struct{}
}

// disturb lets a request meet with the fate that Disturb has decided, and reports whether it is
// dealt with.
func (p *Proxy) disturb(w http.ResponseWriter, r *http.Request) bool {
	now := p.disturbed.Load()
	if now == nil || r.URL.Query().Has("watch") {
		return false
	}
	fate := now.decide(r)
	switch {
	case fate == (Fate{}):
		return false
	case r.Method != http.MethodGet:
		p.write(w, r, fate, now.over)
		return true
	}
	select {
	case <-time.After(fate.Delay):
	case <-r.Context().Done():
		return true
	}
	return refuse(w, fate.Answer)
}

func pass(w http.ResponseWriter, response *http.Response) {
	if response == nil {
		cut(w)
		return
	}
	w.Header().Set("Content-Type", response.Header.Get("Content-Type"))
	w.WriteHeader(response.StatusCode)
	_, _ = io.Copy(w, response.Body) // a client that has gone reads nothing
}

// cut ends the connection without an answer.
func cut(w http.ResponseWriter) {
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		return
	}
	if connection, _, err := hijacker.Hijack(); err == nil {
		_ = connection.Close() // that is all there is to do
	}
}

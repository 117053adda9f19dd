// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package proxy stands between a program and the API server, on loopback, and does to its requests,
// above all to Bindings, what networks, load balancers and API servers do: it delivers them late or
// never, cuts the connection, and answers something else than what has happened.
package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
)

// Answer is what a client is told about a Binding.
type Answer int

const (
	// Honest is what the API server answers, once it does.
	Honest Answer = iota
	// Unavailable is 503, at once.
	Unavailable
	// Broken is 500, at once.
	Broken
	// TimedOut is 504, at once.
	TimedOut
	// Cut is no answer: the connection ends at once.
	Cut
	answers
)

// Answers is how many there are.
const Answers = int(answers)

// Fate is what becomes of a request. The zero value forwards it.
type Fate struct {
	// Lost is true if it never gets to the API server.
	Lost bool
	// Delay is when it does.
	Delay time.Duration
	// Answer is what the client is told.
	Answer Answer
	// Unreadable is for how long the pod of a Binding can neither be read nor changed by the client.
	Unreadable time.Duration
}

// Proxy is a running proxy. It is safe for concurrent use.
type Proxy struct {
	server  *http.Server
	address string
	forward *httputil.ReverseProxy
	api     *url.URL
	client  http.RoundTripper

	fate      atomic.Pointer[func() Fate]
	disturbed atomic.Pointer[disturbance]
	link      *link
	// off is true while nothing comes through.
	off       atomic.Bool
	seen      atomic.Int32
	under     sync.WaitGroup
	mu        sync.Mutex
	forbidden map[string]time.Time

	conditions conditions
}

// Start starts a proxy that speaks to the API server as config says. It forwards everything.
func Start(ctx context.Context, config *rest.Config) (*Proxy, error) {
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("preparing the connection to the API server: %w", err)
	}
	api, err := url.Parse(config.Host)
	if err != nil {
		return nil, fmt.Errorf("reading the address of the API server: %w", err)
	}
	between, err := listen(ctx)
	if err != nil {
		return nil, err
	}
	p := &Proxy{address: "http://" + between.Addr().String(), link: between, api: api, client: transport, forbidden: map[string]time.Time{}}
	p.forward = &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1,
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(api) },
		ErrorLog:     slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: time.Minute}
	go func() { _ = p.server.Serve(p.link) }() // ends with Stop
	return p, nil
}

// Address is what a client is given instead of that of the API server.
func (p *Proxy) Address() string { return p.address }

// Bindings returns how many Bindings have come so far.
func (p *Proxy) Bindings() int { return int(p.seen.Load()) }

// Decide has each Binding from now on meet with a fate; nil forwards them.
func (p *Proxy) Decide(fate func() Fate) {
	if fate == nil {
		p.fate.Store(nil)
		return
	}
	p.fate.Store(&fate)
}

// Disturb has each request from now on meet with a fate, but for watches; nil forwards them. A
// request that only reads is lost if its fate has another answer than the honest one. With a
// function for Bindings too, that one decides about these. The connections of those that were lost
// before, and that the client still waits for, end.
func (p *Proxy) Disturb(fate func(*http.Request) Fate) {
	var next *disturbance
	if fate != nil {
		next = &disturbance{decide: fate, over: make(chan struct{})}
	}
	if before := p.disturbed.Swap(next); before != nil {
		close(before.over)
	}
}

// Stall has everything wait that comes from the client or goes to it, watches too, or ends that.
func (p *Proxy) Stall(stalled bool) { p.link.stall(stalled) }

// Sever ends all connections of the client, which may make new ones.
func (p *Proxy) Sever() { p.link.sever() }

// CutOff keeps everything from coming through, or ends that. Bindings that have come are delivered
// all the same.
func (p *Proxy) CutOff(off bool) { p.off.Store(off) }

// Drain waits until everything that has come is delivered, or lost.
func (p *Proxy) Drain() { p.under.Wait() }

// Stop ends the proxy, and every connection.
func (p *Proxy) Stop() error {
	p.link.stall(false)
	if err := p.server.Close(); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("ending the proxy: %w", err)
	}
	return nil
}

// ServeHTTP serves a request of the client.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.off.Load() {
		cut(w)
		return
	}
	pod, subresource := podOf(r.URL.Path)
	if fate := p.fate.Load(); fate != nil && r.Method == http.MethodPost && subresource == "binding" {
		p.conditions.deliver(pod)
		p.seen.Add(1)
		met := (*fate)()
		p.forbid(pod, met.Unreadable)
		p.write(w, r, met, nil)
		return
	}
	if p.disturb(w, r) {
		return
	}
	if pod != "" && p.isForbidden(pod) {
		http.Error(w, "unreadable", http.StatusServiceUnavailable)
		return
	}
	if subresource == "status" {
		defer p.conditions.wait(r, pod)()
	}
	p.forward.ServeHTTP(w, r)
}

// podOf returns which pod a path is about, as NAMESPACE/NAME, and which of its subresources.
func podOf(path string) (pod, subresource string) {
	rest, found := strings.CutPrefix(path, "/api/v1/namespaces/")
	parts := strings.Split(rest, "/")
	if !found || len(parts) < 3 || parts[1] != "pods" {
		return "", ""
	}
	if len(parts) > 3 {
		subresource = parts[3]
	}
	return parts[0] + "/" + parts[2], subresource
}

func (p *Proxy) isForbidden(pod string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Now().Before(p.forbidden[pod])
}

// forbid keeps a pod from being read for some time.
func (p *Proxy) forbid(pod string, length time.Duration) {
	if length <= 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forbidden[pod] = time.Now().Add(length)
}

// write lets a request that changes something meet with its fate. The connection of one that nobody
// will answer ends with over.
func (p *Proxy) write(w http.ResponseWriter, r *http.Request, fate Fate, over <-chan struct{}) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	answer := make(chan *http.Response, 1)
	if !fate.Lost {
		over = nil
		request := r.Clone(context.WithoutCancel(r.Context()))
		p.under.Add(1)
		time.AfterFunc(fate.Delay, func() {
			defer p.under.Done()
			answer <- p.deliver(request, body) //nolint:bodyclose // whoever takes the answer closes it
		})
	}
	if refuse(w, fate.Answer) {
		return
	}
	select {
	case <-r.Context().Done():
	case <-over:
		cut(w)
	case got := <-answer:
		pass(w, got)
	}
}

// deliver sends a request to the API server, and returns the answer, nil if there is none.
func (p *Proxy) deliver(r *http.Request, body []byte) *http.Response {
	r.RequestURI, r.Host = "", p.api.Host
	r.URL.Scheme, r.URL.Host = p.api.Scheme, p.api.Host
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	response, err := p.client.RoundTrip(r)
	if err != nil {
		return nil
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return nil
	}
	response.Body = io.NopCloser(bytes.NewReader(text))
	return response
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"net"
	"net/http"
	"sync"

	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/lru"
)

// knownClients bounds for how many clients a limiter remembers what they used up.
const knownClients = 10_000

// clientLimiter gives each client a rate of its own. It is safe for concurrent use.
type clientLimiter struct {
	qps   float32
	burst int

	mu      sync.Mutex
	clients *lru.Cache
}

func newClientLimiter(qps float32, burst int) *clientLimiter {
	return &clientLimiter{qps: qps, burst: burst, clients: lru.New(knownClients)}
}

// allow reports whether the client may send another request now.
func (l *clientLimiter) allow(client string) bool {
	l.mu.Lock()
	found, known := l.clients.Get(client)
	if !known {
		found = flowcontrol.NewTokenBucketRateLimiter(l.qps, l.burst)
		l.clients.Add(client, found)
	}
	l.mu.Unlock()
	limiter, ok := found.(flowcontrol.RateLimiter)
	return ok && limiter.TryAccept()
}

// addressOf returns the address of the client without its port.
func addressOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

func tooMany(who string) *Problem {
	p := problem(http.StatusTooManyRequests, CodeTooManyRequests, "%s too many requests, try again later", who)
	p.header.Set("Retry-After", retryAfter)
	return p
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"fmt"
	"net"
	"sync"
)

// link is the network between the client and the proxy.
type link struct {
	net.Listener
	mu   sync.Mutex
	open map[*connection]bool
	// gate is closed when what is stalled may go on. It is nil while nothing is.
	gate chan struct{}
}

// connection is one of the client. What comes or goes over it waits while the link is stalled.
type connection struct {
	net.Conn
	link   *link
	closed chan struct{}
	once   sync.Once
}

// listen begins a link on a free port of loopback.
func listen(ctx context.Context) (*link, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening on loopback: %w", err)
	}
	return &link{Listener: listener, open: map[*connection]bool{}}, nil
}

// Accept returns the next connection.
func (l *link) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: accepted, link: l, closed: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[c] = true
	return c, nil
}

func (l *link) stall(stalled bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case stalled && l.gate == nil:
		l.gate = make(chan struct{})
	case !stalled && l.gate != nil:
		close(l.gate)
		l.gate = nil
	}
}

func (l *link) sever() {
	l.mu.Lock()
	connections := make([]*connection, 0, len(l.open))
	for c := range l.open {
		connections = append(connections, c)
	}
	l.mu.Unlock()
	for _, c := range connections {
		_ = c.Close() // it is gone in any case
	}
}

// pass returns when the link is not stalled, or the connection is closed.
func (c *connection) pass() {
	c.link.mu.Lock()
	gate := c.link.gate
	c.link.mu.Unlock()
	if gate == nil {
		return
	}
	select {
	case <-gate:
	case <-c.closed:
	}
}

// Read returns what the client has sent.
func (c *connection) Read(into []byte) (int, error) {
	n, err := c.Conn.Read(into)
	if n > 0 {
		c.pass()
	}
	return n, err
}

// Write sends something to the client.
func (c *connection) Write(from []byte) (int, error) {
	c.pass()
	return c.Conn.Write(from)
}

// Close ends the connection.
func (c *connection) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.link.mu.Lock()
		delete(c.link.open, c)
		c.link.mu.Unlock()
	})
	return c.Conn.Close()
}

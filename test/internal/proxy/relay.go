// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
)

// Relay passes connections on as they are, encrypted ones too, and can end all of them at once. It
// is safe for concurrent use.
type Relay struct {
	link   *link
	target string
	under  sync.WaitGroup
}

// StartRelay starts a relay on loopback to an address.
func StartRelay(ctx context.Context, target string) (*Relay, error) {
	between, err := listen(ctx)
	if err != nil {
		return nil, err
	}
	r := &Relay{link: between, target: target}
	r.under.Go(func() { r.accept(ctx) })
	return r, nil
}

// Address is what a client is given instead of the target.
func (r *Relay) Address() string { return r.link.Addr().String() }

// Sever ends all connections. The client may make new ones.
func (r *Relay) Sever() { r.link.sever() }

// Stop ends the relay, and every connection.
func (r *Relay) Stop() error {
	err := r.link.Close()
	r.link.sever()
	r.under.Wait()
	if err != nil {
		return fmt.Errorf("ending the relay: %w", err)
	}
	return nil
}

func (r *Relay) accept(ctx context.Context) {
	for {
		client, err := r.link.Accept()
		if err != nil {
			return // the relay has ended
		}
		r.under.Go(func() { r.pass(ctx, client) })
	}
}

// pass passes a connection on until one of its ends has closed it.
func (r *Relay) pass(ctx context.Context, client net.Conn) {
	defer client.Close()
	server, err := (&net.Dialer{}).DialContext(ctx, "tcp", r.target)
	if err != nil {
		return
	}
	defer server.Close()
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(client, server) // until either has gone
		_ = client.Close()
	})
	_, _ = io.Copy(server, client)
	_ = server.Close()
	back.Wait()
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy_test

import (
	"bufio"
	"fmt"
	"net"
	"testing"

	"berth.dev/berth/test/internal/proxy"
)

// echo answers each line of each connection with the same line.
func echo(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return // the test is over
			}
			go func() {
				defer connection.Close()
				for lines := bufio.NewScanner(connection); lines.Scan(); {
					fmt.Fprintln(connection, lines.Text())
				}
			}()
		}
	}()
	return listener.Addr().String()
}

func TestARelayPassesConnectionsOnUntilTheyAreSevered(t *testing.T) {
	relay, err := proxy.StartRelay(t.Context(), echo(t))
	if err != nil {
		t.Fatal(err)
	}
	dial := func() net.Conn {
		t.Helper()
		connection, err := net.Dial("tcp", relay.Address())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { connection.Close() })
		return connection
	}
	ask := func(connection net.Conn) (string, error) {
		if _, err := fmt.Fprintln(connection, "hello"); err != nil {
			return "", err
		}
		return bufio.NewReader(connection).ReadString('\n')
	}
	first := dial()
	if got, err := ask(first); err != nil || got != "hello\n" {
		t.Fatalf("the answer is %q, %v", got, err)
	}
	relay.Sever()
	if got, err := ask(first); err == nil {
		t.Errorf("a connection that was severed answers %q", got)
	}
	if got, err := ask(dial()); err != nil || got != "hello\n" {
		t.Errorf("the answer to a new connection is %q, %v", got, err)
	}
	if err := relay.Stop(); err != nil {
		t.Fatal(err)
	}
	if connection, err := net.Dial("tcp", relay.Address()); err == nil {
		connection.Close()
		t.Error("a relay that was stopped takes connections")
	}
}

// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
)

const loopback = "127.0.0.1"

// Ports are drawn from below the range that Linux gives to outgoing
// connections, so that a port stays free while its server restarts.
const (
	minPort = 20000
	maxPort = 32767

	portDraws = 200
)

// FreePort returns a TCP port of the loopback interface that nobody listened on
// a moment ago. Another process may take it first, so its user must be ready to
// draw again.
func FreePort() (int, error) {
	for range portDraws {
		port := minPort + rand.IntN(maxPort-minPort+1) //nolint:gosec // A port is no secret.
		listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", address(port))
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			return 0, fmt.Errorf("probing port %d: %w", port, err)
		}
		return port, nil
	}
	return 0, fmt.Errorf("no free port on %s between %d and %d", loopback, minPort, maxPort)
}

func address(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }

// portTaken tells whether a process gave up because its port was in use.
func portTaken(err error) bool {
	var exit *ExitError
	return errors.As(err, &exit) && strings.Contains(strings.Join(exit.Tail, "\n"), "address already in use")
}

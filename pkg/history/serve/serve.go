// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

// shutdownTimeout is how long requests may go on once the process is told to end.
const shutdownTimeout = 5 * time.Second

// Start listens at an address and serves in the background until the context ends, with the
// certificate and to the client certificates of another port, which must be served as well: that
// keeps them up to date.
func (h *Handler) Start(ctx context.Context, address string, like *genericapiserver.SecureServingInfo) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listening for those who ask for the history: %w", err)
	}
	own := *like
	own.Listener = listener
	own.Cert, own.ClientCA = followed(like.Cert), followedCA(like.ClientCA)
	if _, _, err := own.Serve(h, shutdownTimeout, ctx.Done()); err != nil {
		return fmt.Errorf("serving the history: %w", err)
	}
	return nil
}

// certificate is one that somebody else keeps up to date. It hides that it could be run.
type certificate struct {
	dynamiccertificates.CertKeyContentProvider
}

func followed(c dynamiccertificates.CertKeyContentProvider) dynamiccertificates.CertKeyContentProvider {
	if c == nil {
		return nil
	}
	return certificate{c}
}

// authority is certificate for those who sign clients.
type authority struct {
	dynamiccertificates.CAContentProvider
}

func followedCA(c dynamiccertificates.CAContentProvider) dynamiccertificates.CAContentProvider {
	if c == nil {
		return nil
	}
	return authority{c}
}

// ProcessName returns the name of the pod of a program, which begins with that of the program, or
// else the latter.
func ProcessName(program string) string {
	if name, err := os.Hostname(); err == nil && strings.HasPrefix(name, program) {
		return name
	}
	return program
}

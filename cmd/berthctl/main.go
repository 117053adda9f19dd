// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Command berthctl shows how Berth shares replicas out over clusters of nodes. Installed as
// kubectl-berth it is a plugin of kubectl.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"berth.dev/berth/pkg/cli"
)

func main() {
	os.Exit(run())
}

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return cli.Run(ctx, cli.Options{
		Program: os.Args[0],
		Streams: genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr},
	}, os.Args[1:])
}
